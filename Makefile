# Thin names for plain commands; CI calls the same ones.

GO       ?= go
FUZZTIME ?= 20s
ARGS     ?=

.PHONY: help run build test check fmt tidy lint conformance interop fuzz bench clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: ## serve the built-in catalog over stdio (ARGS="--root .")
	$(GO) run . serve $(ARGS)

build: ## a static binary without paths of this machine: ./cloudg
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -ldflags='-s -w' -o cloudg .

test: ## vet, the architecture test and all tests with the race detector
	$(GO) vet ./...
	$(GO) test -race -shuffle=on ./...

check: fmt tidy lint test ## format, tidy, static analysis, tests

fmt:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'gofmt -w these files'; exit 1; }

tidy:
	$(GO) mod tidy -diff

lint: ## staticcheck, pinned in tools.mod
	$(GO) vet ./...
	$(GO) tool -modfile=tools.mod staticcheck ./...

conformance: ## the official suite against integration_test/everything
	bash integration_test/conformance/run.sh

interop: ## real clients against integration_test/everything
	bash integration_test/interop/run.sh

fuzz: ## every fuzz target for FUZZTIME each
	FUZZTIME=$(FUZZTIME) bash .ci/fuzz

bench: ## the benchmarks of all packages
	$(GO) test -run='^$$' -bench=. -benchmem ./...

clean:
	rm -rf cloudg bin out
