// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

// The bucket drivers that Open selects by the scheme of the URL, in addition to folders. Each
// library looks for its credentials in the usual places: the environment, files, or the identity of
// the machine or the service account.
import (
	_ "gocloud.dev/blob/azureblob" // azblob://container
	_ "gocloud.dev/blob/gcsblob"   // gs://bucket
	_ "gocloud.dev/blob/s3blob"    // s3://bucket?region=region
)
