// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-containerregistry/pkg/name"
	upstream "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	appName = "example.test/team/app:1"
	layers  = 3
)

// world is a registry that instances in 127.0.0.0/8 pull from.
type world struct {
	*GomegaWithT
	t      *testing.T
	folder string
	*Registry
	url string
}

func newWorld(t *testing.T, upstream http.RoundTripper) *world {
	t.Helper()
	w := &world{GomegaWithT: NewWithT(t), t: t, folder: filepath.Join(t.TempDir(), "images")}
	w.open(upstream)
	web := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) { w.ServeHTTP(writer, r) }))
	t.Cleanup(web.Close)
	w.url = web.URL
	return w
}

func (w *world) open(upstream http.RoundTripper) {
	w.t.Helper()
	var err error
	w.Registry, err = Open(Options{Folder: w.folder, Network: netip.MustParsePrefix("127.0.0.0/8"), Upstream: upstream})
	w.Expect(err).NotTo(HaveOccurred())
}

// RoundTrip sends the request to the registry as to a mirror, as containerd does.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	target, err := url.Parse(w.url)
	if err != nil {
		return nil, err
	}
	asked := r.Clone(r.Context())
	asked.URL.RawQuery = url.Values{namespace: {strings.Replace(r.URL.Host, "index.docker.io", "docker.io", 1)}}.Encode()
	asked.URL.Scheme, asked.URL.Host = target.Scheme, target.Host
	return http.DefaultTransport.RoundTrip(asked)
}

func (w *world) pull(image string) (v1.Image, error) {
	reference, err := name.ParseReference(image)
	w.Expect(err).NotTo(HaveOccurred())
	own := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	pulled, err := remote.Image(reference, remote.WithTransport(w), remote.WithPlatform(own), remote.WithRetryBackoff(remote.Backoff{Steps: 1}))
	if err == nil {
		err = validate.Image(pulled)
	}
	return pulled, err
}

func (w *world) names() []string {
	list, err := w.List()
	w.Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, image := range list {
		names = append(names, image.Name)
	}
	return names
}

// files lists what is in the registry's folder.
func (w *world) files() []string {
	var files []string
	w.Expect(filepath.WalkDir(w.folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, strings.TrimPrefix(path, w.folder+"/"))
		}
		return err
	})).To(Succeed())
	return files
}

func newImage(t *testing.T, architecture string) v1.Image {
	t.Helper()
	g := NewWithT(t)
	image, err := random.Image(1<<10, layers)
	g.Expect(err).NotTo(HaveOccurred())
	config, err := image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	config.OS, config.Architecture = "linux", architecture
	image, err = mutate.ConfigFile(image, config)
	g.Expect(err).NotTo(HaveOccurred())
	return image
}

func dockerArchive(t *testing.T, images map[string]v1.Image) []byte {
	t.Helper()
	g := NewWithT(t)
	named := map[name.Reference]v1.Image{}
	for text, image := range images {
		tag, err := name.NewTag(text)
		g.Expect(err).NotTo(HaveOccurred())
		named[tag] = image
	}
	var archive bytes.Buffer
	g.Expect(tarball.MultiRefWrite(named, &archive)).To(Succeed())
	return archive.Bytes()
}

// layoutArchive returns an OCI image layout, after change has modified its files.
func layoutArchive(t *testing.T, index v1.ImageIndex, change func(folder string)) []byte {
	t.Helper()
	g := NewWithT(t)
	folder := t.TempDir()
	_, err := layout.Write(folder, index)
	g.Expect(err).NotTo(HaveOccurred())
	if change != nil {
		change(folder)
	}
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	g.Expect(writer.AddFS(os.DirFS(folder))).To(Succeed())
	g.Expect(writer.Close()).To(Succeed())
	return archive.Bytes()
}

// annotated returns an OCI image layout of one image with the given annotations, which may hold its
// name.
func annotated(t *testing.T, image mutate.Appendable, change func(folder string), annotations ...string) []byte {
	t.Helper()
	names := map[string]string{}
	for i := 0; i+1 < len(annotations); i += 2 {
		names[annotations[i]] = annotations[i+1]
	}
	added := mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Annotations: names}}
	return layoutArchive(t, mutate.AppendManifests(empty.Index, added), change)
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	g := NewWithT(t)
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(content)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(writer.Close()).To(Succeed())
	return packed.Bytes()
}

// platforms returns an index of an image for another platform, an image for this machine, and an
// attestation.
func platforms(t *testing.T) v1.ImageIndex {
	t.Helper()
	index := v1.ImageIndex(empty.Index)
	for _, platform := range []v1.Platform{
		{OS: "linux", Architecture: "s390x"}, {OS: "linux", Architecture: runtime.GOARCH}, {OS: "unknown", Architecture: "unknown"},
	} {
		image := newImage(t, platform.Architecture)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return index
}

func TestLoadedImagesArePulled(t *testing.T) {
	one, other := newImage(t, runtime.GOARCH), newImage(t, "s390x")
	all := v1.ImageIndex(empty.Index)
	for _, image := range []v1.Image{other, one} {
		config := must(image.ConfigFile())
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: config.Platform()}})
	}
	without := func(image v1.Image) func(folder string) {
		return func(folder string) {
			for _, hash := range []v1.Hash{must(image.Digest()), must(image.ConfigName())} {
				NewWithT(t).Expect(os.Remove(filepath.Join(folder, "blobs/sha256", hash.Hex))).To(Succeed())
			}
		}
	}
	for _, test := range []struct {
		name    string
		archive []byte
		called  string
		want    []string
	}{
		{"docker save", dockerArchive(t, map[string]v1.Image{appName: one}), "", []string{appName}},
		{"docker save, compressed", zipped(t, dockerArchive(t, map[string]v1.Image{appName: one})), "", []string{appName}},
		{
			"docker save of several", dockerArchive(t, map[string]v1.Image{appName: one, "busybox": newImage(t, runtime.GOARCH)}),
			"", []string{"docker.io/library/busybox:latest", appName},
		},
		{
			"several names", dockerArchive(t, map[string]v1.Image{appName: one, "example.test/team/app:2": one}),
			"", []string{appName, "example.test/team/app:2"},
		},
		{"a layout that containerd names", annotated(t, one, nil, nameAnnotation, appName, referenceAnnotation, "1"), "", []string{appName}},
		{"a layout that podman names", annotated(t, one, nil, referenceAnnotation, appName), "", []string{appName}},
		{"a layout without a name", annotated(t, one, nil), "app", []string{"docker.io/library/app:latest"}},
		{"another name", dockerArchive(t, map[string]v1.Image{appName: one}), "example.test/other:3", []string{"example.test/other:3"}},
		{"several platforms", annotated(t, platforms(t), nil, nameAnnotation, appName), "", []string{appName}},
		{"several platforms, of which one is there", annotated(t, all, without(other), nameAnnotation, appName), "", []string{appName}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, offline)
			loaded, err := w.Load(bytes.NewReader(test.archive), test.called)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(loaded).To(HaveLen(len(test.want)))
			w.Expect(w.names()).To(Equal(test.want))
			w.open(offline)
			for _, image := range test.want {
				_, err := w.pull(image)
				w.Expect(err).NotTo(HaveOccurred(), "also after a restart")
			}
			for _, image := range test.want {
				w.Expect(w.Delete(image)).To(Succeed())
				_, err := w.pull(image)
				w.Expect(err).To(HaveOccurred())
			}
			w.Expect(w.files()).To(ConsistOf("index.json", "oci-layout"), "nothing is left")
			w.Expect(cloud.IsNotFound(w.Delete(appName))).To(BeTrue())
		})
	}
}

// offline acts as a host without a network.
var offline = roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrClosedPipe })

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestArchivesThatAreRefused(t *testing.T) {
	good := dockerArchive(t, map[string]v1.Image{appName: newImage(t, runtime.GOARCH)})
	other := "riscv64"
	image := newImage(t, runtime.GOARCH)
	manifest, err := image.Manifest()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	missing := func(hash v1.Hash) []byte {
		return annotated(t, image, func(folder string) {
			NewWithT(t).Expect(os.Remove(filepath.Join(folder, "blobs/sha256", hash.Hex))).To(Succeed())
		}, nameAnnotation, appName)
	}
	damaged := annotated(t, image, func(folder string) {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(folder, "blobs/sha256", manifest.Layers[0].Digest.Hex), []byte("x"), 0o600)).To(Succeed())
	}, nameAnnotation, appName)
	var strange bytes.Buffer
	writer := tar.NewWriter(&strange)
	NewWithT(t).Expect(writer.AddFS(os.DirFS(t.TempDir()))).To(Succeed())
	NewWithT(t).Expect(writer.Close()).To(Succeed())
	for _, test := range []struct {
		name    string
		archive []byte
		called  string
		words   []string
	}{
		{"nothing", nil, "", []string{"holds no images", "docker save"}},
		{"no archive", bytes.Repeat([]byte("no archive "), 1000), "", []string{"is no archive"}},
		{"a wrong compression", []byte{0x1f, 0x8b, 0, 0}, "", []string{"it must be a tar file"}},
		{"an archive of other things", strange.Bytes(), "", []string{"neither index.json nor manifest.json"}},
		{"half an archive", good[:len(good)/2], "", []string{"is no archive", "unexpected EOF"}},
		{
			"another platform", dockerArchive(t, map[string]v1.Image{appName: newImage(t, other)}), "",
			[]string{appName, "linux/" + other, "allowed: linux/" + runtime.GOARCH},
		},
		{"no name", annotated(t, image, nil), "", []string{"name", "does not name", "give it a name"}},
		{"only a tag", annotated(t, image, nil, referenceAnnotation, "1"), "", []string{"does not name"}},
		{"a wrong name", good, "UPPER/Case", []string{`name "UPPER/Case"`, "use a name such as"}},
		{"a digest for a name", good, "app@sha256:" + strings.Repeat("a", 64), []string{"has a digest"}},
		{
			"one name for two", dockerArchive(t, map[string]v1.Image{appName: image, "busybox": newImage(t, runtime.GOARCH)}), "app",
			[]string{"is for an archive of one image, and this one has 2"},
		},
		{"a missing layer", missing(manifest.Layers[1].Digest), "", []string{"is not whole", manifest.Layers[1].Digest.Hex}},
		{"a missing configuration", missing(manifest.Config.Digest), "", []string{"is not whole", manifest.Config.Digest.Hex}},
		{"a damaged layer", damaged, "", []string{"is damaged", manifest.Layers[0].Digest.Hex}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, offline)
			_, err := w.Load(bytes.NewReader(test.archive), test.called)
			w.Expect(cloud.IsInvalid(err)).To(BeTrue(), "%v", err)
			for _, word := range test.words {
				w.Expect(err.Error()).To(ContainSubstring(word))
			}
			w.Expect(w.files()).To(ConsistOf("index.json", "oci-layout"), "nothing is left")
		})
	}
}

// On startup, the daemon removes what a killed one left behind. An image replaces an earlier one of
// the same name.
func TestWhatIsLeftIsRemoved(t *testing.T) {
	w := newWorld(t, offline)
	first, second := newImage(t, runtime.GOARCH), newImage(t, runtime.GOARCH)
	for _, image := range []v1.Image{first, second} {
		_, err := w.Load(bytes.NewReader(dockerArchive(t, map[string]v1.Image{appName: image})), "")
		w.Expect(err).NotTo(HaveOccurred())
	}
	const parts = layers + 4 // plus the configuration, the manifest and the two files of a layout
	w.Expect(w.files()).To(HaveLen(parts))
	for _, left := range []string{"new-1", "blobs/sha256/" + strings.Repeat("a", 64)} {
		w.Expect(os.WriteFile(filepath.Join(w.folder, left), nil, 0o600)).To(Succeed())
	}
	w.open(offline)
	w.Expect(w.files()).To(HaveLen(parts))
	_, err := w.pull(appName)
	w.Expect(err).NotTo(HaveOccurred())
}

func (w *world) do(method, path string, headers ...string) (*http.Response, string) {
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader("{}"))
	w.Expect(err).NotTo(HaveOccurred())
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	w.Expect(err).NotTo(HaveOccurred())
	return response, string(text)
}

func TestRequests(t *testing.T) {
	var asked sync.Map
	w := newWorld(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		asked.Store(r.URL.Host, true)
		return offline(r)
	}))
	image := newImage(t, runtime.GOARCH)
	_, err := w.Load(bytes.NewReader(dockerArchive(t, map[string]v1.Image{appName: image})), "")
	w.Expect(err).NotTo(HaveOccurred())
	stored, err := w.pull(appName)
	w.Expect(err).NotTo(HaveOccurred())
	manifest, err := stored.Manifest()
	w.Expect(err).NotTo(HaveOccurred())
	layer := manifest.Layers[0]
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/v2/", http.StatusOK},
		{http.MethodHead, "/v2/team/app/manifests/1?ns=example.test", http.StatusOK},
		{http.MethodGet, "/v2/team/app/manifests/2?ns=example.test", http.StatusBadGateway},
		{http.MethodGet, "/v2/team/app/manifests/1?ns=other.test", http.StatusBadGateway},
		{http.MethodGet, "/v2/team/app/manifests/1", http.StatusNotFound},
		{http.MethodGet, "/v2/team/app/manifests/" + layer.Digest.String() + "?ns=example.test", http.StatusBadGateway},
		{http.MethodGet, "/v2/team/app/blobs/sha256:../../index.json", http.StatusNotFound},
		{http.MethodGet, "/v2/team/app/tags/list?ns=example.test", http.StatusNotFound},
		{http.MethodGet, "/v2/_catalog", http.StatusNotFound},
		{http.MethodGet, "/v2/../../pages/manifests/..?ns=example.test", http.StatusNotFound},
		{http.MethodGet, "/v2/app/manifests/%2e%2e?ns=example.test", http.StatusNotFound},
		{http.MethodGet, "/v2/app/manifests/1?ns=10.0.0.5:8080/../../server-status", http.StatusNotFound},
		{http.MethodGet, "/v2/app/manifests/1?ns=10.0.0.5:8080%2f..%2f..%2fserver-status", http.StatusNotFound},
		{http.MethodGet, "/index.json", http.StatusNotFound},
		{http.MethodPut, "/v2/team/app/manifests/1?ns=example.test", http.StatusMethodNotAllowed},
		{http.MethodPost, "/v2/team/app/blobs/uploads/", http.StatusMethodNotAllowed},
		{http.MethodPatch, "/v2/team/app/blobs/uploads/1", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/v2/team/app/manifests/1?ns=example.test", http.StatusMethodNotAllowed},
	} {
		response, text := w.do(test.method, test.path)
		w.Expect(response.StatusCode).To(Equal(test.status), "%s %s: %s", test.method, test.path, text)
	}
	_, page := asked.Load("10.0.0.5:8080")
	w.Expect(page).To(BeFalse(), "a registry of a private address may have pages that are no images")
	response, text := w.do(http.MethodGet, "/v2/team/app/blobs/"+layer.Digest.String(), "Range", "bytes=5-")
	w.Expect(response.StatusCode).To(Equal(http.StatusPartialContent))
	w.Expect(text).To(HaveLen(int(layer.Size) - 5))

	w.network = netip.MustParsePrefix("10.77.0.0/16")
	response, _ = w.do(http.MethodGet, "/v2/")
	w.Expect(response.StatusCode).To(Equal(http.StatusForbidden), "others than instances")
}

func TestOtherRegistries(t *testing.T) {
	var mu sync.Mutex
	var seen []*http.Request
	registry := upstream.New(upstream.Logger(log.New(io.Discard, "", 0)))
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r)
		mu.Unlock()
		registry.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	w := newWorld(t, web.Client().Transport)
	host := strings.TrimPrefix(web.URL, "https://")
	image := newImage(t, runtime.GOARCH)
	reference, err := name.ParseReference(host + "/far/app:1")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(remote.Write(reference, image, remote.WithTransport(web.Client().Transport))).To(Succeed())
	pulled, err := w.pull(reference.String())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(pulled.Digest()).To(Equal(must(image.Digest())))
	w.Expect(w.files()).To(ConsistOf("index.json", "oci-layout"), "nothing of others is kept")

	mu.Lock()
	seen = nil
	mu.Unlock()
	response, _ := w.do(http.MethodGet, "/v2/far/app/manifests/none?ns="+host, "Authorization", "Basic c2VjcmV0")
	w.Expect(response.StatusCode).To(Equal(http.StatusNotFound))
	mu.Lock()
	defer mu.Unlock()
	w.Expect(seen).NotTo(BeEmpty())
	for _, request := range seen {
		w.Expect(request.Header).NotTo(HaveKey("Authorization"), "credentials are for the registry that asks for them")
	}
}

// A client is told whether to retry: a registry that cannot be reached may still have the image.
func TestRegistriesThatDoNotAnswer(t *testing.T) {
	for _, test := range []struct{ theirs, ours int }{
		{http.StatusNotFound, http.StatusNotFound}, {http.StatusForbidden, http.StatusNotFound},
		{http.StatusTooManyRequests, http.StatusBadGateway}, {http.StatusInternalServerError, http.StatusBadGateway},
	} {
		web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/" {
				http.Error(w, "their text", test.theirs)
			}
		}))
		w := newWorld(t, web.Client().Transport)
		host := strings.TrimPrefix(web.URL, "https://")
		response, text := w.do(http.MethodGet, "/v2/far/app/manifests/1?ns="+host)
		w.Expect(response.StatusCode).To(Equal(test.ours), "%d", test.theirs)
		w.Expect(text).To(ContainSubstring(fmt.Sprintf("%s answers %d %s\"", host, test.theirs, http.StatusText(test.theirs))))
		web.Close()
		response, text = w.do(http.MethodGet, "/v2/far/app/manifests/1?ns="+host)
		w.Expect(response.StatusCode).To(Equal(http.StatusBadGateway), "nobody listens there any more")
		w.Expect(text).To(And(ContainSubstring("UNAVAILABLE"), ContainSubstring(host+` gives no valid answer"`)))
	}
}

// The cause of a failed fetch is for the host. Any instance can cause one, and choose the text.
func TestFailedFetchesAreLogged(t *testing.T) {
	const words, attempts, limit = 1 << 12, 1000, 20 << 10
	var lines strings.Builder
	klog.SetLogger(funcr.New(func(_, arguments string) { lines.WriteString(arguments) }, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	w := newWorld(t, roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("no route\nto it" + strings.Repeat(" at all", words))
	}))
	for range attempts {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/far/app/manifests/1?ns=other.test", http.NoBody)
		request.RemoteAddr = "127.0.0.1:1"
		answer := httptest.NewRecorder()
		w.ServeHTTP(answer, request)
		w.Expect(answer.Body.String()).NotTo(ContainSubstring("no route"))
	}
	w.Expect(lines.String()).To(And(ContainSubstring("other.test"), ContainSubstring("no route to it")))
	w.Expect(lines.Len()).To(BeNumerically("<", limit))
}

// A power failure can leave the list of images empty that Open has just written.
func TestAnEmptyListIsWrittenAgain(t *testing.T) {
	w := newWorld(t, nil)
	w.Expect(os.Truncate(filepath.Join(w.folder, "index.json"), 0)).To(Succeed())
	w.open(nil)
	w.Expect(w.names()).To(BeEmpty())
	_, err := w.Load(bytes.NewReader(dockerArchive(t, map[string]v1.Image{appName: newImage(t, runtime.GOARCH)})), "")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.names()).To(ConsistOf(appName))
}

// must returns the value, or exits if there is an error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// The client chooses the registry, and therefore where the daemon connects to.
func TestOnlyOtherMachinesAreAsked(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	w := newWorld(t, newTransport(netip.MustParsePrefix("10.77.0.0/16")))
	_, port, _ := strings.Cut(strings.TrimPrefix(web.URL, "http://"), ":")
	inner := []string{
		"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port, "0.0.0.0:" + port, "[::ffff:127.0.0.1]:" + port,
		"169.254.169.254", "10.77.0.1:5000",
	}
	for _, address := range must(net.InterfaceAddrs()) {
		ip := netip.MustParsePrefix(address.String()).Addr()
		w.Expect(ofThisMachine(ip)).To(BeTrue())
		inner = append(inner, net.JoinHostPort(ip.String(), port))
	}
	w.Expect(ofThisMachine(netip.IPv4Unspecified())).To(BeFalse())
	for _, host := range inner {
		response, text := w.do(http.MethodGet, "/v2/app/manifests/1?ns="+url.QueryEscape(host))
		w.Expect(response.StatusCode).To(Equal(http.StatusNotFound))
		w.Expect(text).To(ContainSubstring(`the cloud fetches nothing from \"`+host+`\""`), host)
	}
	for _, host := range []string{"user@example.test", "example.test/path?", "example.test#", "", "a b"} {
		response, _ := w.do(http.MethodGet, "/v2/app/manifests/1?ns="+url.QueryEscape(host))
		w.Expect(response.StatusCode).To(Equal(http.StatusNotFound), host)
	}
}

// A registry that an instance has on the internet could otherwise fetch for it what only the host
// reaches.
func TestRedirectsToPlainHTTPAreNotFollowed(t *testing.T) {
	const image = "/v2/far/app/manifests/1"
	var inner *httptest.Server
	answers := http.NewServeMux()
	answers.HandleFunc("/open", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the host's") })
	answers.HandleFunc("/fails", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the host's", http.StatusInternalServerError)
	})
	answers.HandleFunc("/challenge", func(w http.ResponseWriter, _ *http.Request) {
		realm := strings.Replace(inner.URL, "127.0.0.1", "localhost", 1) + "/token"
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	answers.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"secret":"the host's"}`) })
	var asked atomic.Int32
	inner = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answers.ServeHTTP(w, r)
	}))
	t.Cleanup(inner.Close)
	var redirects sync.Map
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target, ok := redirects.Load(r.URL.Path); ok {
			http.Redirect(w, r, target.(string), http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(web.Close)
	w := newWorld(t, web.Client().Transport)
	host := strings.TrimPrefix(web.URL, "https://")
	for _, test := range []struct{ name, from, to string }{
		{"an image", image, inner.URL + "/open"},
		{"a ping", "/v2/", inner.URL + "/fails"},
		{"a ping whose answer names a token server", "/v2/", inner.URL + "/challenge"},
	} {
		redirects.Store(test.from, test.to)
		response, text := w.do(http.MethodGet, image+"?ns="+host)
		w.Expect(text).NotTo(ContainSubstring("the host's"), test.name)
		w.Expect(response.StatusCode).To(Equal(http.StatusNotFound), test.name)
		redirects.Clear()
	}
	w.Expect(asked.Load()).To(BeZero())
	redirects.Store(image, web.URL+"/v2/")
	response, _ := w.do(http.MethodGet, image+"?ns="+host)
	w.Expect(response.StatusCode).To(Equal(http.StatusOK), "as to where a registry keeps its blobs")
}

// A registry with a private address, or one of the host as here, need not have a certificate.
func TestRegistriesWithPlainHTTP(t *testing.T) {
	registry := upstream.New(upstream.Logger(log.New(io.Discard, "", 0)))
	target := ""
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target != "" && r.URL.Path != "/v2/" {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
			return
		}
		registry.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	w := newWorld(t, http.DefaultTransport)
	reference, err := name.ParseReference(strings.TrimPrefix(web.URL, "http://") + "/far/app:1")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(remote.Write(reference, newImage(t, runtime.GOARCH))).To(Succeed())
	_, err = w.pull(reference.String())
	w.Expect(err).NotTo(HaveOccurred())
	target = web.URL + "/v2/"
	response, _ := w.do(http.MethodGet, "/v2/far/app/manifests/1?ns="+reference.Context().RegistryStr())
	w.Expect(response.StatusCode).To(Equal(http.StatusNotFound), "it may redirect to pages that are no images")
}

func TestProxies(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:3128")
	t.Setenv("HTTP_PROXY", "proxy.example")
	g.Expect(proxyAddresses()).To(Equal(map[string]bool{"127.0.0.1:3128": true, "proxy.example:80": true}))

	transport := newTransport(netip.MustParsePrefix("10.77.0.0/16"))
	proxyOf := func(address string) (*url.URL, error) {
		return transport.Proxy(httptest.NewRequest(http.MethodGet, address, http.NoBody))
	}
	g.Expect(proxyOf("https://registry.example/v2/")).To(HaveField("Host", "127.0.0.1:3128"))
	g.Expect(proxyOf("http://192.0.2.1:5000/v2/")).To(HaveField("Host", "proxy.example"))
	inner := []string{"169.254.169.254", "10.77.0.1", "[fe80::1%25eth0]", "registry.localhost"}
	for _, address := range must(net.InterfaceAddrs()) {
		if ip := netip.MustParsePrefix(address.String()).Addr(); ip.IsGlobalUnicast() && ip.Is4() {
			inner = append(inner, ip.String())
		}
	}
	for _, host := range inner {
		_, err := proxyOf("http://" + host + ":5000/v2/")
		g.Expect(err).To(MatchError(errNotThere), host)
	}
}
