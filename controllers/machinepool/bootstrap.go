// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// bootstrapData is what is known of the bootstrap data of a pool.
type bootstrapData struct {
	// problem says why there is none that instances could be made with, in words that quote none of it.
	problem string
	// version is the resource version of the Secret.
	version string
	// digest tells the data but for its token from other data.
	digest string
	// userData is the data itself; nil where it was not read, since the cloud has it.
	userData []byte
}

// digestLength is the number of characters of a digest.
const digestLength = 16

// token is a bootstrap token where kubeadm's JoinConfiguration has one. The kubeadm bootstrap provider renews
// discovery.bootstrapToken.token in the same Secret, and writes the rest of the data anew from the KubeadmConfig: it stays the
// same unless somebody changed what it is made from.
var token = regexp.MustCompile(`(?m)^(\s*(?:token|tlsBootstrapToken):\s*)["']?([a-z0-9]{6}\.[a-z0-9]{16})["']?\s*$`)

// digestOf returns a digest of the data without its token, wherever the token stands.
func digestOf(data []byte) string {
	stripped := data
	for _, found := range token.FindAllSubmatch(data, -1) {
		stripped = bytes.ReplaceAll(stripped, found[2], nil)
	}
	stripped = token0.ReplaceAll(stripped, []byte("${1}"))
	sum := sha256.Sum256(stripped)
	return hex.EncodeToString(sum[:])[:digestLength]
}

// token0 is the place of a token that was taken away, which may be quoted or not.
var token0 = regexp.MustCompile(`(?m)^(\s*(?:token|tlsBootstrapToken):)\s*(?:""|'')?\s*$`)

// readBootstrap says what is in a Secret with bootstrap data.
func readBootstrap(secret *corev1.Secret) bootstrapData {
	if len(secret.Data["value"]) == 0 {
		return bootstrapData{problem: fmt.Sprintf("the Secret %s has no bootstrap data under the key value", secret.Name)}
	}
	if format := string(secret.Data["format"]); format != "" && format != "cloud-config" {
		return bootstrapData{
			problem: fmt.Sprintf("the Secret %s has bootstrap data of format %q, allowed: cloud-config", secret.Name, format),
		}
	}
	value := secret.Data["value"]
	return bootstrapData{version: secret.ResourceVersion, digest: digestOf(value), userData: value}
}
