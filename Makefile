# The interface of the project. `make help` lists the main targets; each builds what it needs.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

KUBERNETES_VERSION ?= v1.36.3
# There is a module file under node/kubernetes for every Kubernetes version that an instance can
# run.
KUBERNETES_VERSIONS := $(shell sed -nE 's/^(require )?[[:space:]]*k8s.io\/kubernetes (v[0-9.]+)$$/\2/p' node/kubernetes/*.mod | sort -V)
LABELS ?= !slow
ARGS ?=
FUZZTIME ?= 10s
# Time limit for all stories together; raise it on emulated machines, which are slower.
E2E_TIMEOUT ?= 75m
UPSTREAM_TIMEOUT ?= 6h
PROCS ?= 1
HISTORIES ?= 1000000
FOCUS ?=
SHARD ?=
TESTS ?=
RESUME ?= true
VERSION ?=
REGISTRY ?=
# A release has images for these architectures, and node images for these Kubernetes versions, if
# any.
ARCHITECTURES ?= amd64 arm64
NODE_VERSIONS ?= $(KUBERNETES_VERSIONS)

BIN := $(CURDIR)/bin
NATIVE := $(shell go env GOHOSTARCH)
TOOLS := $(BIN)/tools
# Where programs are written, and the version that they say: a release has its own.
OUT := $(BIN)
FOO_VERSION = $(DEVELOPMENT)
# cert-manager for this host's architecture.
CERT_MANAGER := $(BIN)/native/$(NATIVE)/cert-manager/version
# What Cluster API's own specs install besides, and what they report.
UPSTREAM := $(BIN)/upstream
# Programs, tests and the linter share one setting, so that each package is compiled once. Commits
# are not recorded: no program reports its own, and git refuses to tell root the commit of another
# user's clone.
export GOFLAGS := $(strip $(shell go env GOFLAGS) -buildvcs=false -trimpath)
export CGO_ENABLED := 0
# The same commit gives the same packages.
ifndef SOURCE_DATE_EPOCH
export SOURCE_DATE_EPOCH := $(or $(shell git -c safe.directory='$(CURDIR)' log -1 --format=%ct 2>/dev/null),0)
endif
GO_BUILD := go build -ldflags '-s -w'
# The version of programs that are not built for a release.
DEVELOPMENT := v0.1.0-dev
FOO_BUILD = go build -ldflags '-s -w -X k8s.io/component-base/version.gitVersion=$(FOO_VERSION) -X main.version=$(FOO_VERSION)'
# The linter already vets the tests.
GO_TEST := go test -vet=off
export KUBEBUILDER_ASSETS := $(BIN)/kubernetes/$(KUBERNETES_VERSION)
# Gomega's default of one second is too short while compilers run next to the tests.
export GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT := 60s
# The linter stores findings by path, so a cache shared by several checkouts would report files of
# another one.
export GOLANGCI_LINT_CACHE := $(BIN)/lint-cache

# Go knows best what is stale: these targets always run it, and it uses its cache.
.PHONY: FORCE
FORCE:

##@ Use

.PHONY: help
help: ## List the main targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: quickstart
quickstart: host ## Bring up a real workload cluster on this host (ARGS='--help' lists the flags)
	@$(MAKE) --no-print-directory programs
	$(BIN)/foo quickstart $(if $(filter file,$(origin KUBERNETES_VERSION)),,--kubernetes-version=$(KUBERNETES_VERSION)) $(ARGS)

.PHONY: node
node: node-prerequisites $(BIN)/systems/.current ## Build the parts of nodes with KUBERNETES_VERSION

##@ Test

.PHONY: test
test: ON_HOST = test-smoke
test: lint verify test-unit $(BIN)/e2e.test test-integration ## Run lint, the unit and integration tests, and the smoke stories on real machines

.PHONY: test-all
test-all: LABELS =
test-all: E2E_TIMEOUT = 8h
test-all: lint verify test-unit test-integration e2e ## Run all tests, the slow stories too

# The integration tests of a package, or of a module, run its unit tests too. `make test` runs each
# once.
UNIT_PACKAGES = ./...
UNIT_MODULES = bench conformance node/agent test/upstream
test test-all: UNIT_PACKAGES = $(filter-out $(INTEGRATION_PACKAGES) $(HOST_PACKAGES),$(patsubst $(CURDIR)%,.%,$(shell go list -f '{{.Dir}}' ./...)))
test test-all: UNIT_MODULES = test/upstream

.PHONY: test-unit
test-unit: prerequisites ## Run the unit tests
	$(GO_TEST) -p 4 -timeout 30m $(UNIT_PACKAGES)
	for module in $(UNIT_MODULES); do (cd $$module && $(GO_TEST) ./...) || exit; done
	cd node/kubernetes && go test ./preflight

FUZZ_PACKAGES = $(shell grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u)

# `make test-unit` runs the fuzz targets on their seeds, converts 10,000 random objects of each
# kind, and runs 10,000 random histories each of a control plane and of a pool.
.PHONY: fuzz
fuzz: prerequisites ## Fuzz for objects that a conversion changes and requests that a hook cannot handle, FUZZTIME for each target
	@for package in $(FUZZ_PACKAGES); do for target in $$(go test $$package -list '^Fuzz' | grep '^Fuzz'); do \
		go test $$package -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME); done; done
	HISTORIES=$(HISTORIES) go test ./controllers/controlplane/plan ./controllers/machinepool -run 'TestPlanIsSafeAndConverges|TestHistories' -timeout 2h

# Tests that need a kube-apiserver have the build tag integration. Tests that need root and this
# machine have the tag host.
TAGGED = $(shell grep -rlE --include='*_test.go' '^//go:build .*$(1)' . | xargs -r -n1 dirname | sort -u)
HOST_PACKAGES = $(filter-out ./node/%,$(call TAGGED,host))
# Those that take longest come first, so that nothing waits for them in the end.
LONG_PACKAGES := ./controllers/controlplane ./controllers/machinepool ./test/integration/tenancy ./test/integration/conformance
BENCHMARKS = $(shell grep -rlE --include='*_test.go' '^func Benchmark' controllers extensions | xargs -r -n1 dirname | sort -u | sed 's,^,./,')
INTEGRATION_PACKAGES = $(LONG_PACKAGES) $(filter-out ./node/% ./bench ./conformance/% $(HOST_PACKAGES) $(LONG_PACKAGES),$(call TAGGED,integration))

# The web console is tested in a browser, by tests in JavaScript.
CONSOLE_TESTS = cloud/local/console/browser

$(CONSOLE_TESTS)/node_modules: $(CONSOLE_TESTS)/package-lock.json
	@hack/prerequisites.sh node:nodejs npm
	@cd $(CONSOLE_TESTS) && npm ci --no-audit --no-fund --silent && touch node_modules

# Go does not notice changed programs and images, so its cached results are ignored.
GO_TEST_INTEGRATION = $(GO_TEST) -count 1 -timeout 40m -tags

# Tests and stories on the host wait most of the time, and the others use the CPU time that they
# leave. Whoever interrupts them still sees how they clean up.
ON_HOST = test-host
.PHONY: test-integration
test-integration: programs images $(TOOLS)/nfpm $(TOOLS)/crane $(CONSOLE_TESTS)/node_modules ## Run the tests against a real kube-apiserver and real instances
	@hack/prerequisites.sh dpkg-deb:dpkg rpm systemd-analyze:systemd chromium setsid:util-linux pkill:procps ip:iproute2 ss:iproute2
	@$(MAKE) --no-print-directory --jobs=3 $(ON_HOST) test-apiserver test-suite 2>&1 | tee --ignore-interrupts $(BIN)/integration.log || { \
		echo 'These tests failed; bin/integration.log says why:' >&2; grep -aE '^ *(--- FAIL|FAIL|\[(FAIL|PANICKED!|TIMEDOUT|INTERRUPTED)\]|make.*\*\*\*)' $(BIN)/integration.log >&2; exit 1; }

BESIDE = $(CURDIR)/hack/beside.sh
BENCHMARK = $(BESIDE) $(GO_TEST) -run '^$$' -bench . -benchtime 1x

# Only test-integration calls these: it builds what they need. With fewer garbage collections, a
# kube-apiserver takes less CPU time to start.
.PHONY: test-host test-smoke test-apiserver test-suite
test-apiserver test-suite: export GOGC := 400
test-apiserver:
	$(BESIDE) $(GO_TEST_INTEGRATION) integration -p 3 $(INTEGRATION_PACKAGES)

test-suite:
	$(BENCHMARK) $(BENCHMARKS)
	cd conformance && $(BENCHMARK) ./lint
	cd bench && $(BESIDE) $(GO_TEST_INTEGRATION) integration ./...
	cd conformance && PATH=$(TOOLS):$$PATH $(BESIDE) $(GO_TEST_INTEGRATION) integration -parallel 4 ./...

# One after the other: each counts the machine's processes, mounts and networks.
test-host:
	$(GO_TEST_INTEGRATION) integration,host -p 1 $(HOST_PACKAGES)
	cd node/agent && $(GO_TEST_INTEGRATION) integration,host -p 1 ./...

test-smoke: export GINKGO_NO_COLOR := 1
test-smoke: test-host
	@$(MAKE) --no-print-directory e2e LABELS=smoke

E2E = cd test/e2e && $(BIN)/e2e.test -ginkgo.v -ginkgo.label-filter='$(LABELS)'

# A dry run prints the labels of the selected stories, which name what they need besides the
# programs.
.PHONY: e2e
e2e: programs $(BIN)/e2e.test ## Run the stories on real machines and write their durations to bin/e2e.xml (LABELS='smoke' selects)
	@$(MAKE) --no-print-directory prerequisites $$($(E2E) -ginkgo.dry-run -ginkgo.no-color | tr ' ,[]' '\n' | sed -n 's/^needs://p' | sort -u)
	$(E2E) -ginkgo.timeout=$(E2E_TIMEOUT) -ginkgo.junit-report=$(BIN)/e2e.xml

.PHONY: conformance
conformance: programs conformance-parts ## Run the Kubernetes conformance tests that have not passed yet (FOCUS='sig-network' selects)
	go run ./test/conformance run --focus='$(FOCUS)' --tests='$(TESTS)' --shard='$(SHARD)' --resume=$(RESUME) $(ARGS)

.PHONY: conformance-report
conformance-report: conformance-parts ## Write docs/conformance from the results of the conformance tests
	go run ./test/conformance report

# Clusters of the specs are in a network of their own, so it can run beside a quick start.
.PHONY: upstream
upstream: upstream-parts $(UPSTREAM)/specs.test $(TOOLS)/ginkgo ## Run Cluster API's own specs on real machines (FOCUS='Quick start' selects, PROCS=2 runs two at a time), and write bin/upstream/junit.xml
	$(TOOLS)/ginkgo run --procs=$(PROCS) -v --fail-on-empty --focus='$(FOCUS)' --timeout=$(UPSTREAM_TIMEOUT) --output-dir=$(UPSTREAM) --junit-report=junit.xml \
		$(UPSTREAM)/specs.test -- -configuration=$(CURDIR)/test/upstream/config.yaml -bin=$(BIN) -artifacts=$(UPSTREAM)/artifacts $(ARGS)

CONTRACT_REPORT = --name foo --version $(DEVELOPMENT) --url https://github.com/capfoo/cluster-api-provider-foo \
	--strict --undated --reproduce 'make $@' -f yaml

# Live, Cluster API uses the newest version only.
BOTH_CONTRACTS = --contract-version v1beta1,v1beta2

.PHONY: contract-report
contract-report: prerequisites $(BIN)/kubernetes/$(KUBERNETES_VERSION)/kubernetes $(BIN)/manager $(BIN)/runtime-extension $(BIN)/manifests/.current $(BIN)/capi-conformance ## Check Foo with capi-conformance, which takes minutes, and write docs/contract and docs/contract.md
	rm -rf $(BIN)/contract && go run ./hack/release --version $(DEVELOPMENT) --output $(BIN)/contract
	$(BIN)/capi-conformance lint $(BIN)/contract $(BOTH_CONTRACTS) $(CONTRACT_REPORT) -o docs/contract/lint.yaml
	$(BIN)/capi-conformance test --config test/integration/conformance/conformance.yaml $(BOTH_CONTRACTS) $(CONTRACT_REPORT) -o docs/contract/behaviour.yaml
	@$(MAKE) --no-print-directory contract-page

.PHONY: contract-live
contract-live: all-versions management next-release $(BIN)/capi-conformance ## As root, check Foo with clusters on real machines and with clusterctl, which takes 15 minutes, and write docs/contract/live.yaml and docs/contract.md
	test/integration/conformance/live.sh $(BIN) $(lastword $(filter-out $(KUBERNETES_VERSION),$(KUBERNETES_VERSIONS))) $(KUBERNETES_VERSION) $(LAST_RELEASE) $(NEXT_RELEASE) \
		$(CONTRACT_REPORT) -o docs/contract/live.yaml
	@$(MAKE) --no-print-directory contract-page

.PHONY: bench
bench: all-versions programs in-memory-provider kubeadm-control-plane bench-program ## Compare Foo, bare kubeadm, the in-memory provider, both kinds of control plane, and pools of 500 and 2,000
	$(BIN)/bench $(ARGS)

.PHONY: lint
lint: prerequisites $(TOOLS)/golangci-lint ## Check style, bugs and import rules
	@hack/prerequisites.sh shellcheck
	shellcheck packaging/*.sh
	shellcheck --shell=bash --severity=warning hack/*.sh
	$(TOOLS)/golangci-lint run ./...
	for module in bench conformance test/upstream node/agent node/flannel; do (cd $$module && $(TOOLS)/golangci-lint run --config '$(CURDIR)/.golangci.yml' ./...); done
	test -z "$$(gofmt -l node)"

##@ Generate

CONTROLLER_GEN = $(TOOLS)/controller-gen
CONVERSION_GEN = $(TOOLS)/conversion-gen --go-header-file=hack/boilerplate.go.txt --output-file=zz_generated.conversion.go \
	--extra-peer-dirs=github.com/capfoo/cluster-api-provider-foo/webhooks/conversion/legacy

.PHONY: generate
generate: prerequisites contract-page $(CONTROLLER_GEN) $(TOOLS)/conversion-gen $(TOOLS)/crd-ref-docs ## Write deepcopy and conversion functions, CRDs, RBAC roles, webhook configurations, and the pages of docs/ that are generated
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	$(CONVERSION_GEN) ./webhooks/conversion/controlplane ./webhooks/conversion/infrastructure
	$(CONTROLLER_GEN) crd:crdVersions=v1 paths=./api/controlplane/v1beta1 paths=./api/controlplane/v1beta2 output:crd:dir=config/crd/control-plane/bases
	$(CONTROLLER_GEN) crd:crdVersions=v1 paths=./api/infrastructure/v1beta1 paths=./api/infrastructure/v1beta2 output:crd:dir=config/crd/infrastructure/bases
	$(CONTROLLER_GEN) crd:crdVersions=v1 paths=./api/extension/... output:crd:dir=config/crd/runtime-extension/bases
	$(CONTROLLER_GEN) rbac:roleName=foo-manager paths=./controllers/... output:rbac:dir=config/default
	$(CONTROLLER_GEN) rbac:roleName=foo-manager paths=./controllers/controlplane/... paths=./controllers/crdmigration/controlplane/... output:rbac:dir=config/control-plane
	$(CONTROLLER_GEN) rbac:roleName=foo-manager paths=./controllers/cluster/... paths=./controllers/clusteridentity/... paths=./controllers/machine/... paths=./controllers/machinepool/... paths=./controllers/machinetemplate/... paths=./controllers/crdmigration/infrastructure/... output:rbac:dir=config/infrastructure
	$(CONTROLLER_GEN) rbac:roleName=foo-manager paths=./extensions/... output:rbac:dir=config/runtime-extension
	$(CONTROLLER_GEN) webhook paths=./webhooks/admission/controlplane/... output:webhook:dir=config/webhook/control-plane
	$(CONTROLLER_GEN) webhook paths=./webhooks/admission/infrastructure/... output:webhook:dir=config/webhook/infrastructure
	$(TOOLS)/crd-ref-docs --source-path=api --config=hack/api-reference.yaml --renderer=markdown --output-path=docs/api.md --log-level=ERROR
	go run ./hack/docs
	for program in foo foocloud; do FOO_CLOUD_ENDPOINT= FOO_CLOUD_TOKEN_FILE= FOO_CLOUD_CA_FILE= go run ./cmd/$$program reference > $(BIN)/$$program.md && mv $(BIN)/$$program.md docs/commands/ || exit 1; done

.PHONY: verify
verify: generate ## Fail if a generated file is stale
	@status=0; git -c safe.directory='$(CURDIR)' diff --exit-code -- api config docs webhooks || status=$$?; \
	case $$status in \
	0) ;; \
	1) echo 'generated files are stale: commit what `make generate` writes' >&2 ;; \
	*) echo 'git cannot compare the generated files with the committed ones: run this in a clone of the repository' >&2 ;; \
	esac; exit $$status
	@hack/size.sh HEAD >/dev/null

# The page and the badge of the contracts, from the results of the last contract-report and contract-live.
CONTRACT_RESULTS = docs/contract/lint.yaml docs/contract/behaviour.yaml docs/contract/live.yaml
.PHONY: contract-page
contract-page: $(BIN)/capi-conformance
	@{ echo '<!-- Written by make generate from docs/contract: run make contract-report instead. -->'; \
	$(BIN)/capi-conformance report $(CONTRACT_RESULTS) -f markdown; } > docs/contract.md
	@$(BIN)/capi-conformance report $(CONTRACT_RESULTS) -f badge > docs/contract/badge.json

# For nodes of any architecture: their operating systems, and programs for this machine that help to complete them.
NODE_PARTS = $(if $(strip $(NODE_VERSIONS)),$(ARCHITECTURES:%=$(BIN)/systems/%.tar) $(BIN)/runtime/containerd $(NODE_VERSIONS:%=$(BIN)/kubernetes/%/kubernetes) $(ARCHIVE_TOOLS))
ARCHIVE_TOOLS = $(BIN)/foo $(BIN)/foocloud $(BIN)/manifests/.current $(TOOLS)/nfpm
# A clusterctl repository with all providers of a management cluster, and their images:
# $(call management,ARCHITECTURE,VERSION,PROGRAMS,OUTPUT)
management = rm -rf $(4) && go run ./hack/release --version $(2) --output $(4) --programs $(3) --architectures $(1) \
	--providers "bootstrap-kubeadm:$(CLUSTER_API) cert-manager:$$(<$(3)/$(1)/cert-manager/version) cluster-api:$(CLUSTER_API)"
CLUSTER_API = $(shell cd hack/tools && go list -m -f '{{.Version}}' sigs.k8s.io/cluster-api)

.PHONY: release
release: prerequisites $(if $(NODE_PARTS),node-prerequisites $(ARCHITECTURES:%=emulate-%)) ## Write a clusterctl repository of VERSION, images, archives, packages and bills of materials under out/
	@[[ '$(VERSION)' =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$$ ]] || { echo "VERSION is '$(VERSION)'; set for example VERSION=v0.1.0" >&2; exit 2; }
	@$(MAKE) --no-print-directory $(NODE_PARTS) $(ARCHITECTURES:%=programs-%)
	$(if $(NODE_PARTS),@for architecture in $(ARCHITECTURES); do \
		hack/build-store.sh $$architecture $(BIN) $(BIN)/programs/$$architecture $(NODE_VERSIONS); \
		hack/build-cert-manager.sh $$architecture $(BIN)/programs/$$architecture/cert-manager; \
	done)
	go run ./hack/release --version $(VERSION) --output out --programs $(BIN)/programs --architectures '$(ARCHITECTURES)' \
		--node-versions '$(NODE_VERSIONS)' --archives
	$(if $(strip $(NODE_VERSIONS)),@for architecture in $(ARCHITECTURES); do \
		$(call management,$$architecture,$(VERSION),$(BIN)/programs,$(BIN)/programs/$$architecture/management); \
		packaging/archive.sh $$architecture $(VERSION) $(BIN) $(BIN)/programs/$$architecture out $(NODE_VERSIONS); \
	done)
	@hack/sums.sh out

# The same sources and the same Go version build identical programs for everyone, so the user's own settings are ignored.
RELEASED = manager runtime-extension etcd-snapshot capi-conformance $(if $(NODE_PARTS),foo foocloud foonode runtime/containerd \
	tools/core tools/kubeadm-bootstrap tools/kubeadm-control-plane tools/clusterctl $(NODE_VERSIONS:%=kubernetes/%/kubernetes))
.PHONY: programs-amd64 programs-arm64
programs-amd64 programs-arm64: programs-%:
	@umask 022 && GOOS=linux GOARCH=$* GOAMD64=v1 GOARM64=v8.0 $(MAKE) --no-print-directory --always-make $(RELEASED:%=$(BIN)/programs/$*/%) \
		OUT=$(BIN)/programs/$* FOO_VERSION=$(VERSION) CLUSTER_API_FLAGS='-X sigs.k8s.io/cluster-api/version.gitVersion=$(CLUSTER_API)' GOFLAGS='-buildvcs=false -trimpath'

# This machine must run the scripts of Debian packages. Where no service manager runs, nothing has registered the emulator.
CPU_amd64 = x86_64
CPU_arm64 = aarch64
.PHONY: emulate-$(NATIVE)
emulate-$(NATIVE):
emulate-%:
	@[[ -n '$(CPU_$*)' ]] || { echo "ARCHITECTURES has '$*', but may only have amd64 and arm64" >&2; exit 2; }
	@hack/prerequisites.sh qemu-$(CPU_$*)-static:qemu-user-static update-binfmts:binfmt-support arch-test
	@arch-test $* >/dev/null || { update-binfmts --enable qemu-$(CPU_$*) && arch-test $* >/dev/null; } || { \
		echo 'this host cannot run programs for $*: run update-binfmts --enable qemu-$(CPU_$*) as root on its kernel, or leave the architecture out with ARCHITECTURES=$(NATIVE)' >&2; exit 1; }

.PHONY: push
push: $(TOOLS)/crane ## Push the images of VERSION under out/ to REGISTRY
	@[[ -n '$(VERSION)' && -n '$(REGISTRY)' ]] || { echo "VERSION is '$(VERSION)' and REGISTRY is '$(REGISTRY)'; set for example VERSION=v0.1.0 REGISTRY=registry.example/foo" >&2; exit 2; }
	CRANE=$(TOOLS)/crane packaging/push.sh out $(VERSION) $(REGISTRY)

# The archive of this machine's architecture, from the programs that are built anyway.
.PHONY: archive
archive: programs native $(ARCHIVE_TOOLS) $(TOOLS)/kubeadm-control-plane $(CERT_MANAGER)
	@ln -sfn $(BIN)/foo $(BIN)/foocloud $(BIN)/native/$(NATIVE)/
	@go run ./hack/release --version $(DEVELOPMENT) --output $(BIN)/archive --programs $(BIN)/native --architectures $(NATIVE) \
		--node-versions $(KUBERNETES_VERSION) --archives
	@$(call management,$(NATIVE),$(DEVELOPMENT),$(BIN)/native,$(BIN)/native/$(NATIVE)/management)
	@packaging/archive.sh $(NATIVE) $(DEVELOPMENT) $(BIN) $(BIN)/native/$(NATIVE) $(BIN)/archive $(KUBERNETES_VERSION)
	@hack/sums.sh $(BIN)/archive

.PHONY: clean
clean: ## Delete everything that was built; Go's module and build caches are kept
	@! grep -qsF -e '$(CURDIR)/bin/systems/' -e /layers/0: $(FOO_ROOT)/proc/[0-9]*/mounts || \
		{ echo 'instances of a cloud use bin: delete those of foo with: bin/foo delete cluster NAME, or: bin/foo quickstart delete --state-dir=/var/lib/foo; those of another cloud with: bin/foocloud destroy' >&2; exit 1; }
	rm -rf bin out $(CONSOLE_TESTS)/node_modules

##@ Parts

.PHONY: prerequisites
prerequisites:
	@hack/prerequisites.sh

# Whether this machine can run Foo, before anything is downloaded or built. Programs of both
# Kubernetes versions, and Go's caches, fit into 10 GiB.
.PHONY: host
host:
	@packaging/install.sh --check --without-packages --prefix $(BIN) --space $(if $(wildcard $(BIN)/systems/.current),1024,10240)
	@$(MAKE) --no-print-directory node-prerequisites

# Virtual machines with releases of Debian, for the stories with the label distribution.
.PHONY: machines
machines: node-prerequisites machine-prerequisites $(BIN)/machines/qemu $(BIN)/machines/bookworm $(BIN)/machines/trixie ## Build the virtual machines of the stories with the label distribution

.PHONY: machine-prerequisites
machine-prerequisites:
	@hack/prerequisites.sh qemu-img:qemu-utils ssh:openssh-client mke2fs:e2fsprogs

# With qemu before 8.1, Linux panics in one of ten boots on emulated processors. So this one is of
# Debian 13, whatever this machine has:
# https://lore.kernel.org/qemu-devel/20230707103611.5906-1-richard.henderson@linaro.org/
$(BIN)/machines/qemu: hack/mmdebstrap.sh
	@hack/mmdebstrap.sh trixie $@.tar --variant=extract --architectures=amd64 --include=qemu-system-x86
	@rm -rf $@ $@.partial && mkdir $@.partial && tar -xf $@.tar -C $@.partial && rm $@.tar && mv $@.partial $@

$(BIN)/machines/%: test/e2e/build-machine.sh hack/mmdebstrap.sh
	@test/e2e/build-machine.sh $* $@

# Programs that build instances.
.PHONY: node-prerequisites
node-prerequisites:
	@hack/prerequisites.sh runc mmdebstrap

.PHONY: programs
programs: node $(BIN)/foonode $(BIN)/foocloud $(BIN)/manager $(BIN)/runtime-extension $(BIN)/foo capi ## Build all programs

# Programs built from modules alone are stale only if their module file changed; running Go would
# take seconds each time.
NODE_SOURCES := $(wildcard node/kubernetes/*.go node/kubernetes/*/*.go node/kubernetes/*.mod) hack/build-node.sh hack/reproducible.sh

$(OUT)/kubernetes/%/kubernetes: $(NODE_SOURCES)
	@hack/build-node.sh '$*' '$(@D)'

# The operating system of nodes, also used by releases.
$(BIN)/systems/%.tar: hack/build-system.sh hack/mmdebstrap.sh hack/node-packages.txt
	@hack/build-system.sh $* $@

# Nodes show the version of containerd. Its shim uses ttrpc only, and one shim stays in memory per pod, so gRPC is left out.
# Each version of CoreDNS that kubeadm requires has a module file.
CONTAINERD := github.com/containerd/containerd/v2
CONTAINERD_TAGS := urfave_cli_no_docs,osusergo,netgo,static_build,no_btrfs,no_devmapper,no_zfs,no_tracing
CONTAINERD_BUILD = cd node/runtime && version=$$(go list -m -f '{{.Version}}' $(CONTAINERD)) && go build -ldflags \
	"-s -w -X $(CONTAINERD)/version.Version=$${version\#v} -X $(CONTAINERD)/version.Package=$(CONTAINERD) -X $(CONTAINERD)/version.Revision="

$(OUT)/runtime/containerd: $(wildcard $(foreach folder,runtime coredns flannel,node/$(folder)/*.mod node/$(folder)/*.go))
	@echo 'building containerd, CoreDNS and flannel: the first time takes 2 to 6 minutes on 2 cores'
	@cd node/coredns && for file in *.mod; do version=$$(go list -modfile=$$file -m -f '{{.Version}}' github.com/coredns/coredns); \
		$(GO_BUILD) -modfile=$$file -o $(@D)/coredns/$$version/coredns .; done
	@cd node/flannel && $(GO_BUILD) -o $(@D)/flannel/$$(go list -m -f '{{.Version}}' github.com/flannel-io/flannel)/flanneld .
	@$(CONTAINERD_BUILD) -tags $(CONTAINERD_TAGS),no_grpc -o $(@D)/ $(CONTAINERD)/cmd/containerd-shim-runc-v2
	@$(CONTAINERD_BUILD) -tags $(CONTAINERD_TAGS) -o $(@D)/ $(CONTAINERD)/cmd/ctr $(CONTAINERD)/cmd/containerd && touch $@

# Instances have the images of all built versions, of which there may be variants such as
# patched@v1.36.3. Running instances keep the system that they were created with.
BUILT_VERSIONS = $(foreach version,$(sort $(KUBERNETES_VERSION) $(patsubst $(BIN)/kubernetes/%/kubernetes,%,$(wildcard $(BIN)/kubernetes/*/kubernetes))),\
	$(if $(findstring @,$(version)),,$(version)))

$(BIN)/systems/.current: $(BIN)/systems/$(NATIVE).tar $(BIN)/runtime/containerd $(BUILT_VERSIONS:%=$(BIN)/kubernetes/%/kubernetes) \
		$(wildcard internal/image/*.go node/store/*.go node/runtime/etc/containerd/*) hack/build-store.sh
	@hack/build-store.sh $(NATIVE) $(BIN) $(BIN) $(BUILT_VERSIONS) && touch $@

# All versions that an instance can run.
.PHONY: all-versions
all-versions: node-prerequisites $(KUBERNETES_VERSIONS:%=$(BIN)/kubernetes/%/kubernetes) ## Build the parts of nodes with all versions
	@$(MAKE) --no-print-directory $(BIN)/systems/.current

$(OUT)/foonode: FORCE
	@cd node/agent && $(FOO_BUILD) -o $@ .

$(OUT)/manager: FORCE
	@$(FOO_BUILD) -o $@ .

$(OUT)/foocloud $(OUT)/runtime-extension $(OUT)/etcd-snapshot $(OUT)/foo: FORCE
	@$(FOO_BUILD) -o $@ ./cmd/$(@F)

$(OUT)/capi-conformance: FORCE
	@cd conformance && $(FOO_BUILD) -o $@ ./cmd/capi-conformance

# The programs of this machine's architecture, as hack/release expects them.
.PHONY: native
native: node $(BIN)/foonode $(BIN)/manager $(BIN)/runtime-extension $(BIN)/etcd-snapshot $(BIN)/capi-conformance
	@mkdir -p $(BIN)/native/$(NATIVE) && ln -sfn $(filter $(BIN)/%,$^) $(BIN)/kubernetes $(BIN)/system $(TOOLS) $(BIN)/native/$(NATIVE)/

.PHONY: images
images: native ## Write the images for this host's architecture under bin/images
	@go run ./hack/release --version v0.1.0 --output $(BIN)/images --programs $(BIN)/native --architectures $(NATIVE) \
		--node-versions $(KUBERNETES_VERSION)

# Images of nodes with all versions, from which machines in a Kubernetes cluster start.
.PHONY: node-images
node-images: all-versions native ## Write the images of nodes with all versions under bin/node-images, for machines in a Kubernetes cluster
	@go run ./hack/release --version v0.1.0 --output $(BIN)/node-images --programs $(BIN)/native --architectures $(NATIVE) \
		--node-versions '$(KUBERNETES_VERSIONS)'

# What a management cluster with Pods consists of: a clusterctl repository, and images.
.PHONY: management
management: programs native $(CERT_MANAGER) ## Build what `foo quickstart --management` installs
	@$(call management,$(NATIVE),v0.1.0,$(BIN)/native,$(BIN)/management)

$(CERT_MANAGER): hack/tools/cert-manager.mod hack/build-cert-manager.sh hack/reproducible.sh
	@hack/build-cert-manager.sh $(NATIVE) $(@D)

# What Cluster API's specs need besides: more providers, a newer version of Foo, the image of their Pods, and flavors.
# The specs read every control plane's spec as that of a KubeadmControlPlane.
UPSTREAM_PROGRAMS := $(UPSTREAM)/programs/$(NATIVE)

.PHONY: upstream-parts
upstream-parts: management all-versions $(TOOLS)/kubeadm-control-plane $(TOOLS)/test-extension
	@mkdir -p $(UPSTREAM_PROGRAMS) $(UPSTREAM)/images
	@ln -sfn $(BIN)/manager $(BIN)/runtime-extension $(BIN)/etcd-snapshot $(TOOLS) $(UPSTREAM_PROGRAMS)/
	@$(call kustomize,runtime-extension-test-extension/runtime-extension,$(call module,test/upstream/go.mod,/test)/extension/config/default)
	@install -m 0644 $(call module,go.mod)/metadata.yaml $(BIN)/manifests/runtime-extension-test-extension
	@go run ./hack/release --version $(NEXT_RELEASE) --output $(UPSTREAM) --programs $(UPSTREAM)/programs --architectures $(NATIVE) \
		--providers 'control-plane-kubeadm:$(CLUSTER_API) runtime-extension-test-extension:$(CLUSTER_API)'
	@go run ./node/store images --system $(BIN)/system --extra registry.k8s.io/pause:3.10.1 --output $(UPSTREAM)/images/pods.tar
	@test/upstream/flavors.sh $(UPSTREAM) $(NEXT_RELEASE) $(KUBEBUILDER_ASSETS)/kubectl

$(UPSTREAM)/specs.test: FORCE
	@cd test/upstream && $(GO_TEST) -tags e2e -c -o $@ .

.PHONY: capi
capi: $(TOOLS)/core $(TOOLS)/kubeadm-bootstrap $(TOOLS)/clusterctl $(BIN)/manifests/.current
	@:

# Components are named as in a clusterctl repository: $(call kustomize,PROVIDER/TYPE,FOLDER). Those of Cluster API come from
# the module that the programs are built from, so they have its version: $(call module,MODULE FILE,PART).
kustomize = mkdir -p $(dir $(BIN)/manifests/$(1)) && $(KUBEBUILDER_ASSETS)/kubectl kustomize $(2) > $(BIN)/manifests/$(1)-components.yaml
module = $(shell cd $(dir $(1)) && go mod download -modfile=$(notdir $(1)) sigs.k8s.io/cluster-api$(2) && \
	go list -modfile=$(notdir $(1)) -m -f '{{.Dir}}' sigs.k8s.io/cluster-api$(2))

# All of Foo for one manager that runs both providers, and each provider alone.
$(BIN)/manifests/.current: go.mod $(wildcard config/*/*.yaml config/*/*/*.yaml config/*/*/*/*.yaml) | $(KUBEBUILDER_ASSETS)/kubernetes
	@$(call kustomize,foo/foo,config/default)
	@$(foreach type,control-plane infrastructure runtime-extension,$(call kustomize,$(type)-foo/$(type),config/$(type));)
	@install -m 0644 config/extensionconfig/extensionconfig.yaml $(BIN)/manifests/runtime-extension-foo
	@$(call kustomize,cluster-api/core,$(call module,go.mod)/core/config/default)
	@$(foreach type,bootstrap control-plane,$(call kustomize,$(type)-kubeadm/$(type),$(call module,go.mod)/$(subst -,,$(type))/kubeadm/config/default);)
	@for provider in cluster-api bootstrap-kubeadm control-plane-kubeadm; do install -m 0644 $(call module,go.mod)/metadata.yaml $(@D)/$$provider; done
	@touch $@

$(BIN)/manifests/infrastructure-in-memory/infrastructure-components.yaml: hack/tools/inmemory.mod | $(KUBEBUILDER_ASSETS)/kubernetes
	@$(call kustomize,infrastructure-in-memory/infrastructure,$(call module,$<,/test)/infrastructure/docker/config/default)

$(BIN)/e2e.test: FORCE
	@$(GO_TEST) -tags e2e -c -o $@ ./test/e2e

# The stories install the last stored release, and upgrade it to the sources as the version after.
LAST_RELEASE := v0.1.0
NEXT_RELEASE := v0.2.0

.PHONY: next-release
next-release: ## Write a clusterctl repository of the sources, as the version after the last stored release, under bin/release
	@rm -rf $(BIN)/release && mkdir -p $(BIN)/release
	@cp -R test/e2e/testdata/releases/v*/{control-plane,infrastructure}-foo $(BIN)/release
	@go run ./hack/release --version $(NEXT_RELEASE) --output $(BIN)/release

# Kubernetes' own tests and the images of their pods.
.PHONY: conformance-parts
conformance-parts: node-prerequisites $(BIN)/conformance/e2e.test $(BIN)/conformance/images.tar
	@:

$(BIN)/conformance/e2e.test: $(wildcard test/conformance/suite/*) test/conformance/build.sh hack/reproducible.sh
	@test/conformance/build.sh $(BIN)/conformance && touch $@

$(BIN)/conformance/system.tar: test/conformance/packages.txt hack/build-system.sh hack/mmdebstrap.sh
	@PACKAGES=$< hack/build-system.sh $(NATIVE) $@

$(BIN)/conformance/images.tar: $(BIN)/conformance/e2e.test $(BIN)/conformance/system.tar test/conformance/images.go $(wildcard internal/image/*.go)
	@go run ./test/conformance images --system $(BIN)/conformance/system.tar --programs $(BIN)/conformance/programs --output $@

.PHONY: bench-program
bench-program:
	@cd bench && $(GO_BUILD) -o $(BIN)/bench .

.PHONY: kubeadm-control-plane in-memory-provider
kubeadm-control-plane in-memory-provider: %: $(TOOLS)/%

in-memory-provider: $(BIN)/manifests/infrastructure-in-memory/infrastructure-components.yaml

TOOL_BUILD = @cd hack/tools && echo 'building $(@F)' && $(GO_BUILD)

# A release of Cluster API says its version.
CLUSTER_API_BUILD = @cd hack/tools && echo 'building $(@F)' && go build -ldflags '-s -w $(CLUSTER_API_FLAGS)' -o $@ sigs.k8s.io/cluster-api

$(OUT)/tools/core: hack/tools/go.mod
	$(CLUSTER_API_BUILD)/core

$(OUT)/tools/clusterctl: hack/tools/go.mod
	$(CLUSTER_API_BUILD)/cmd/clusterctl

$(OUT)/tools/kubeadm-bootstrap $(OUT)/tools/kubeadm-control-plane: $(OUT)/tools/kubeadm-%: hack/tools/go.mod
	$(CLUSTER_API_BUILD)/$(subst -,,$*)/kubeadm

$(TOOLS)/test-extension: test/upstream/go.mod
	@cd test/upstream && echo 'building $(@F)' && $(GO_BUILD) -o $@ sigs.k8s.io/cluster-api/test/extension

$(TOOLS)/ginkgo: test/upstream/go.mod
	@cd test/upstream && echo 'building $(@F)' && $(GO_BUILD) -o $@ github.com/onsi/ginkgo/v2/ginkgo

$(TOOLS)/in-memory-provider: hack/tools/inmemory.mod
	$(TOOL_BUILD) -modfile=inmemory.mod -o $@ sigs.k8s.io/cluster-api/test/infrastructure/docker

$(CONTROLLER_GEN): hack/tools/generate.mod
	$(TOOL_BUILD) -modfile=generate.mod -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(TOOLS)/nfpm: hack/tools/release.mod
	$(TOOL_BUILD) -modfile=release.mod -o $@ github.com/goreleaser/nfpm/v2/cmd/nfpm

$(TOOLS)/crane: hack/tools/release.mod
	$(TOOL_BUILD) -modfile=release.mod -o $@ github.com/google/go-containerregistry/cmd/crane

$(TOOLS)/crd-ref-docs: hack/tools/refdocs.mod
	$(TOOL_BUILD) -modfile=refdocs.mod -o $@ github.com/elastic/crd-ref-docs

$(TOOLS)/conversion-gen: hack/tools/generate.mod
	$(TOOL_BUILD) -modfile=generate.mod -o $@ k8s.io/code-generator/cmd/conversion-gen

$(TOOLS)/golangci-lint: hack/tools/lint.mod
	$(TOOL_BUILD) -modfile=lint.mod -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
