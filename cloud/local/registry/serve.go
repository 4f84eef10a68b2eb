// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"path"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/klog/v2"
)

const (
	root      = "/v2/"
	manifests = "manifests"
	blobs     = "blobs"

	digestHeader = "Docker-Content-Digest"
	// namespace is the query parameter in which containerd tells a mirror which registry it stands
	// in for.
	namespace = "ns"
)

// wanted is what a request asks for: a manifest or blob of a repository.
type wanted struct{ host, repository, kind, reference string }

func parseRequest(r *http.Request) (wanted, bool) {
	rest, found := strings.CutPrefix(r.URL.Path, root)
	parts := strings.Split(rest, "/")
	last := len(parts) - 1
	// A path such as /v2/../status/blobs/.., or one in the name of the registry, would make a registry of a
	// private address serve any page.
	host := r.URL.Query().Get(namespace)
	clean := path.Clean(r.URL.Path) == r.URL.Path && !strings.Contains(host, "/")
	if !found || !clean || last < 2 || (parts[last-1] != manifests && parts[last-1] != blobs) {
		return wanted{}, false
	}
	return wanted{
		host: host, repository: strings.Join(parts[:last-1], "/"), kind: parts[last-1], reference: parts[last],
	}, true
}

// ServeHTTP answers a pull. What is not stored here comes from the registry that the request names.
func (r *Registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	source, err := netip.ParseAddrPort(request.RemoteAddr)
	if err != nil || !r.network.Contains(source.Addr().Unmap()) {
		refuse(w, http.StatusForbidden, "DENIED", "only instances of this cloud may pull")
		return
	}
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "this registry is read-only; add images with `foocloud image load`")
		return
	}
	if request.URL.Path == root {
		w.WriteHeader(http.StatusOK)
		return
	}
	want, ok := parseRequest(request)
	if !ok {
		refuse(w, http.StatusNotFound, "UNSUPPORTED", "use "+root+"<repository>/manifests/<reference> or "+root+"<repository>/blobs/<digest>")
		return
	}
	if r.serveOwn(w, request, want) {
		return
	}
	if err := r.serveOther(w, request, want); err != nil {
		r.logFailure(request.RemoteAddr, err)
		status, code, reason := explain(want.host, err)
		refuse(w, status, code, "it was not loaded into the cloud, and cannot be fetched from its registry: "+reason)
	}
}

// serveOwn serves a loaded image, and reports whether there is one.
func (r *Registry) serveOwn(w http.ResponseWriter, request *http.Request, want wanted) bool {
	digest, err := v1.NewHash(want.reference)
	if err != nil && want.kind == manifests {
		images, err := r.index()
		if err != nil {
			klog.Background().Error(err, "The images of the cloud cannot be read")
			return false
		}
		digest = images[want.host+"/"+want.repository+":"+want.reference].Digest
	}
	if r.size(digest) < 0 {
		return false
	}
	kind := "application/octet-stream"
	if want.kind == manifests {
		var m manifest
		if err := r.document(digest, &m); err != nil || m.kind() == "" {
			return false
		}
		kind = string(m.kind())
	}
	file, err := os.Open(r.blob(digest))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	w.Header().Set("Content-Type", kind)
	w.Header().Set(digestHeader, digest.String())
	http.ServeContent(w, request, "", time.Time{}, file)
	return true
}

// refuse sends an error in the format of registries.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body := map[string]any{"errors": []map[string]string{{"code": code, "message": message}}}
	if err := json.NewEncoder(w).Encode(body); err != nil {
		klog.Background().V(1).Info("Caller disconnected before the answer was sent", "reason", err.Error())
	}
}
