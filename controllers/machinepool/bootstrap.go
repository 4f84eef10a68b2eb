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

// bootstrapData is what is known about the bootstrap data of a pool.
type bootstrapData struct {
	// problem is why no instance can be created from the data. It quotes none of the data.
	problem string
	// version is the resource version of the Secret.
	version string
	// digest identifies the data without its token.
	digest string
	// userData is the data itself; nil if it was not read because the cloud has it.
	userData []byte
}

// digestLength is the number of characters of a digest.
const digestLength = 16

// token matches a bootstrap token in kubeadm's JoinConfiguration. The kubeadm bootstrap provider
// renews discovery.bootstrapToken.token in the same Secret and renders the rest of the data again
// from the KubeadmConfig. The rest stays the same unless somebody changed its inputs.
var token = regexp.MustCompile(`(?m)^(\s*(?:token|tlsBootstrapToken):\s*)["']?([a-z0-9]{6}\.[a-z0-9]{16})["']?\s*$`)

// digestOf returns a digest of the data without its token, wherever the token appears.
func digestOf(data []byte) string {
	stripped := data
	for _, found := range token.FindAllSubmatch(data, -1) {
		stripped = bytes.ReplaceAll(stripped, found[2], nil)
	}
	stripped = token0.ReplaceAll(stripped, []byte("${1}"))
	sum := sha256.Sum256(stripped)
	return hex.EncodeToString(sum[:])[:digestLength]
}

// token0 matches the place of a removed token, which may have been quoted.
var token0 = regexp.MustCompile(`(?m)^(\s*(?:token|tlsBootstrapToken):)\s*(?:""|'')?\s*$`)

// readBootstrap returns what a Secret with bootstrap data contains.
func readBootstrap(secret *corev1.Secret) bootstrapData {
	if len(secret.Data["value"]) == 0 {
		return bootstrapData{problem: fmt.Sprintf(`The Secret %s has no bootstrap data: data["value"] is empty`, secret.Name)}
	}
	if format := string(secret.Data["format"]); format != "" && format != "cloud-config" {
		return bootstrapData{
			problem: fmt.Sprintf("The Secret %s has bootstrap data in format %q, allowed: cloud-config", secret.Name, format),
		}
	}
	value := secret.Data["value"]
	return bootstrapData{version: secret.ResourceVersion, digest: digestOf(value), userData: value}
}
