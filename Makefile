# jkd: build, test, cross-build, measure. For GNU make and FreeBSD's make.
#
#   make          build ./jkd
#   make demo     build and run it with a small container of its own
#   make test     THE test command: gofmt, vet, every test with -race
#   make check    the short version for every commit, under two minutes
#   make fuzz     every fuzz target for FUZZTIME
#   make cross    build, vet and compile the tests for FreeBSD
#   make freebsd-tests  all test binaries, to run on a FreeBSD machine
#   make bench    jkd beside Apache, nginx, HAProxy and Tomcat alone: bench/README.md
#   make microbench  Go's benchmarks of the parts, for benchstat
#
# JKD_INTEGRATION=require makes tests fail, not skip, when Tomcat or a load
# generator is missing.

GO       = go
VERSION != v=$$(cat VERSION); h=$$(test -e .git && git rev-parse --short HEAD 2>/dev/null) && echo "$$v+$$h" || echo "$$v"
LDFLAGS  = -s -w -X main.version=$(VERSION)
TIMEOUT  = 35m
FUZZTIME = 30s
SCRIPTS  = rc.d/jkd cmd/jkd/testdata/rc.subr packaging/testbundle.sh

all: build

# No cgo: one static binary, the same one on every machine of a kind.
build:
	CGO_ENABLED=0 $(GO) build -buildvcs=false -trimpath -ldflags '$(LDFLAGS)' -o jkd ./cmd/jkd

demo: build
	@exec ./jkd -demo

fmt:
	@out=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) || exit 1; \
	if [ -n "$$out" ]; then echo "not in gofmt's form:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...

# What the integration tests need and go test does not show when it skips.
prereq:
	@miss=; \
	test -e /usr/share/tomcat10/bin/bootstrap.jar || miss="$$miss tomcat10"; \
	test -d /usr/share/tomcat10-examples/examples || miss="$$miss tomcat10-examples"; \
	command -v java >/dev/null 2>&1 || miss="$$miss java"; \
	command -v ab >/dev/null 2>&1 || miss="$$miss apache2-utils(ab)"; \
	test -e /usr/sbin/apache2 || miss="$$miss apache2"; \
	test -e /usr/lib/apache2/modules/mod_jk.so || miss="$$miss libapache2-mod-jk"; \
	command -v chromium >/dev/null 2>&1 || miss="$$miss chromium"; \
	command -v mandoc >/dev/null 2>&1 || miss="$$miss mandoc"; \
	if [ -n "$$miss" ]; then \
		echo "make test: missing:$$miss"; \
		echo "make test: the tests against a real Tomcat, Apache or browser, or of manual pages, that need it will be skipped"; \
	fi

# The race detector needs cgo; on a machine with Go alone the tests run
# without it, and say so.
test: fmt vet prereq
	@race=-race; \
	if [ "$$($(GO) env CGO_ENABLED)" != 1 ]; then \
		race=; echo "make test: no C compiler or cgo off: WITHOUT the race detector"; \
	fi; \
	echo "$(GO) test $$race -timeout $(TIMEOUT) ./..."; \
	exec $(GO) test $$race -timeout $(TIMEOUT) ./...

check: fmt vet scripts
	@if command -v golangci-lint >/dev/null 2>&1; then golangci-lint run; \
	elif command -v staticcheck >/dev/null 2>&1; then staticcheck ./...; \
	else echo "make check: neither golangci-lint nor staticcheck here"; fi
	$(GO) test -race -short -timeout 5m ./...
	CGO_ENABLED=0 GOOS=freebsd GOARCH=amd64 $(GO) vet ./...

scripts:
	@for f in $(SCRIPTS); do sh -n $$f || exit 1; done
	@bash -n .ci/run
	@if command -v shellcheck >/dev/null 2>&1; then \
		shellcheck -s sh -e SC1091,SC2034,SC2154 $(SCRIPTS) && shellcheck .ci/run; \
	else echo "make scripts: no shellcheck here"; fi

fuzz:
	@list=$$($(GO) test -list "^Fuzz" ./...) || { echo "$$list"; exit 1; }; \
	echo "$$list" | awk '/^Fuzz/ { f = f " " $$1 } /^ok/ { n = split(f, a, " "); for (i = 1; i <= n; i++) print $$2, a[i]; f = "" }' | \
	while read -r pkg name; do \
		echo "== $$pkg $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" || exit 1; \
	done

cross:
	@for arch in amd64 arm64; do \
		echo "== freebsd/$$arch: build, vet, tests compile"; \
		export CGO_ENABLED=0 GOOS=freebsd GOARCH=$$arch; \
		$(GO) build -buildvcs=false -o /dev/null ./cmd/jkd && \
		$(GO) build -buildvcs=false ./... && \
		$(GO) vet ./... && \
		$(GO) test -c -o /dev/null ./... || exit 1; \
	done

# What to copy to a FreeBSD machine to test there: see packaging/testbundle.sh.
# On the machine: ./run, or ./run -test.short. TEST_OS=linux makes the same for
# Linux, to see here what the tests do without the source tree.
TEST_OS   = freebsd
TEST_ARCH = amd64
freebsd-tests:
	GO='$(GO)' LDFLAGS='$(LDFLAGS)' packaging/testbundle.sh $(TEST_OS) $(TEST_ARCH) build/tests-$(TEST_OS)-$(TEST_ARCH)

# ARGS are the bench's flags: make bench ARGS='-only hello,page -out bench'.
bench: build
	@$(GO) build -buildvcs=false -o build/jkdbench ./bench
	@exec build/jkdbench $(ARGS)

# One package at a time, so that they do not measure each other.
MICRO = ./connector/ajp ./connector/jk ./connector/jk2 ./connector/proxy ./connector/counters ./connector/jk/balance ./scoreboard ./mpm/sock ./cmd/jkd/internal/httpd
COUNT = 6
microbench:
	@$(GO) test -p 1 -run '^$$' -bench . -benchmem -benchtime 200ms -count $(COUNT) $(MICRO)

clean:
	rm -rf jkd build

.PHONY: all build demo fmt vet prereq test check scripts fuzz cross freebsd-tests bench microbench clean
