# Run `make help` for a list of targets. The scripts in scripts/ do the work, and can also be run by hand.

# Every heading shows the time since make was started.
export MAKE_STARTED_AT := $(shell date +%s%3N)

.DEFAULT_GOAL := help
.PHONY: help run build web setup test chaos fuzz check audit sbom fmt bench clean

help: ## Show this menu
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

run: ## Install what is missing, build, start the server and print where to look (ARGS="--listen …")
	@scripts/setup run
	@scripts/web
	@scripts/build
	@scripts/heading "Starting the server"
	@exec target/debug/deskhand serve $(ARGS)

build: ## Install what is missing and build target/debug/deskhand with the page in it
	@scripts/setup run
	@scripts/web
	@scripts/build

web: ## Build the page into web/dist
	@scripts/setup web
	@scripts/web

setup: ## Install what is missing for running and testing
	@scripts/setup test

test: ## Check and test everything; the last line is the total
	@scripts/setup test
	@scripts/test

chaos: ## Kill everything at random while agents work, 200 times on each database (KILLS=, SESSIONS=, SEED=)
	@scripts/setup test
	@scripts/web
	@KILLS=$(KILLS) SESSIONS=$(SESSIONS) SEED=$(SEED) scripts/chaos

fuzz: ## Give broken input to everything that reads it, a minute each (FUZZ_SECONDS=, FUZZ_SEED=)
	@scripts/setup test
	@scripts/web
	@. scripts/lints && FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) scripts/cargo nextest run --workspace -j 2 --success-output immediate -E 'test(/\bfuzz/)'

check: ## Format, lints, types and house rules only
	@scripts/setup check
	@scripts/web
	@scripts/check

audit: ## Ask for known vulnerabilities of what we depend on (needs the network, and cargo-deny)
	cargo deny check advisories
	npm --prefix web audit --omit=dev

sbom: ## Write a software bill of materials to target/sbom.cdx.json
	@mkdir -p target
	@scripts/dependencies sbom > target/sbom.cdx.json
	@echo "target/sbom.cdx.json"

fmt: ## Format the Rust code
	cargo fmt --all

bench: ## Measure, next to what people use otherwise (ARGS="desktop step": only these parts)
	@scripts/setup bench
	@scripts/web
	@scripts/bench $(ARGS)

clean: ## Remove everything that was built
	rm -rf target web/dist web/node_modules e2e/node_modules openapi/node_modules mcp/node_modules \
		mcp/opencode/node_modules bench/peer/playwright/node_modules .make
