#!/bin/sh
# testbundle.sh OS ARCH DIR: all test binaries of the module for one platform,
# each in the directory of its package with that package's testdata, jkd itself,
# the samples that tests read, and DIR/run, which runs them all. DIR can be
# copied to a machine that has neither Go nor the source tree. Arguments of
# DIR/run go to every test binary, such as -test.v or -test.run NAME.
set -eu
GOOS=$1 GOARCH=$2 CGO_ENABLED=0
export GOOS GOARCH CGO_ENABLED
out=$3
go=${GO:-go}

rm -rf "$out"
mkdir -p "$out"
"$go" build -buildvcs=false -trimpath -ldflags "${LDFLAGS:--s -w}" -o "$out/jkd" ./cmd/jkd
packages=$("$go" list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
for pkg in $packages; do
	rel=${pkg#jkd/}
	mkdir -p "$out/$rel"
	"$go" test -c -trimpath -ldflags '-s -w' -o "$out/$rel/${rel##*/}.test" "$pkg"
	if [ -d "$rel/testdata" ]; then cp -R "$rel/testdata" "$out/$rel/"; fi
done
cp conf/*.sample "$out/conf/"
mkdir -p "$out/rc.d"
cp rc.d/jkd "$out/rc.d/"

cat >"$out/run" <<'RUN'
#!/bin/sh
cd "$(dirname "$0")" && JKD_BINARY=$PWD/jkd && export JKD_BINARY && s=0 && for t in $(find . -name '*.test' | sort); do echo "== $t" && (cd "${t%/*}" && exec "./${t##*/}" "$@") || s=1; done && exit $s
RUN
chmod 755 "$out/run"
