#!/bin/sh
# Runs upstream's suites of LeaderWorkerSets against our definition, controllers and webhooks, beside a real API server.
# Upstream's Go module comes from the module proxy, and nothing of it is kept here: a copy in a temporary folder gets our
# definition, and our way to start instead of its manager (tests/tools/conformance).
#
#   sh scripts/conformance/lws.sh [webhooks|controllers|addon]... [-- FLAG...]
#
# `addon` is a story of ours beside upstream's own webhooks. Flags go to Ginkgo.
#
#   OWN=1               run the suites with upstream's own definition and manager instead, to compare
#   OUT=DIR             where reports and logs go (default: bench/out/conformance)
#   MOORING_TOOLS=DIR   where the real programs are, as for scripts/tools.sh
set -eu

VERSION=v0.9.0
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
OURS=$ROOT/tests/tools/conformance
BIN=${MOORING_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/mooring/tools}/bin
OUT=${OUT:-$ROOT/bench/out/conformance}

suites=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    suites="$suites $1"
    shift
done
[ $# -eq 0 ] || shift
if [ -z "$suites" ]; then
    suites="webhooks controllers"
    [ -n "${OWN:-}" ] || suites="$suites addon"
fi

command -v go >/dev/null || { echo "conformance: Go was not found; it builds upstream's suites" >&2; exit 1; }
for tool in etcd kube-apiserver kubectl; do
    [ -x "$BIN/$tool" ] || { echo "conformance: there is no $tool in $BIN; \`make tools\` builds it, once" >&2; exit 1; }
done

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$OUT" "$folder/empty"
module=$(cd "$folder/empty" && go mod download -json "sigs.k8s.io/lws@$VERSION" |
    sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')

# A copy of upstream's module for one suite, with what is ours in it.
prepare() {
    cp -r "$module" "$folder/$1"
    chmod -R u+w "$folder/$1"
    [ -z "${OWN:-}" ] || return 0
    cp "$ROOT/config/crd/leaderworkerset.x-k8s.io_leaderworkersets.yaml" "$folder/$1/config/crd/bases/"
    mkdir "$folder/$1/test/mooring"
    cp "$OURS/run.go" "$folder/$1/test/mooring/"
    case $1 in
    addon) cp "$OURS/addon_test.go" "$folder/$1/test/integration/webhooks/" ;;
    *) cp "$OURS/$1_suite_test.go" "$folder/$1/test/integration/$1/suite_test.go" ;;
    esac
}

failed=0
for suite in $suites; do
    case $suite in
    webhooks | controllers) place=$suite focus= ;;
    addon) place=webhooks focus="-ginkgo.focus=Mooring.beside" ;;
    *) echo "conformance: there is no suite $suite; there are webhooks, controllers and addon" >&2; exit 1 ;;
    esac
    prepare "$suite"
    echo "conformance: $suite of upstream's $VERSION" >&2
    rm -f "$OUT/$suite.json"
    (
        cd "$folder/$suite/test/integration/$place"
        go test -c -o "$folder/$suite.test" .
        KUBEBUILDER_ASSETS=$BIN MOORING="$ROOT/.venv/bin/python -m mooring" MOORING_LOG="$OUT/$suite.log" \
            "$folder/$suite.test" -ginkgo.no-color -ginkgo.json-report="$OUT/$suite.json" $focus "$@" >"$OUT/$suite.out" 2>&1
    ) || true
    [ -f "$OUT/$suite.json" ] || { tail -20 "$OUT/$suite.out" >&2; exit 1; }
    (cd "$ROOT" && .venv/bin/python -m scripts.conformance.verdict "$suite" "$OUT/$suite.json") || failed=1
done
echo "conformance: what each story said is in $OUT" >&2
exit $failed
