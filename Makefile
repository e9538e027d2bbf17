# Thin names for plain commands; CI calls the same ones.

GO       ?= go
FUZZTIME ?= 20s
ARGS     ?=

# Every fuzz target as package:name.
FUZZERS = $(shell grep -rlE '^func Fuzz' --include=*_test.go . | grep -v '^./integration_test/' | while read -r f; do \
	sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' $$f | sed "s|^|$$(dirname $$f):|"; done | sort)

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
	@set -e; for t in $(FUZZERS); do \
		pkg=$${t%%:*}; name=$${t##*:}; echo "== $$pkg $$name"; \
		$(GO) test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=20x $$pkg; \
	done

bench: ## the benchmarks of all packages
	$(GO) test -run='^$$' -bench=. -benchmem ./...

clean:
	rm -rf cloudg bin out
