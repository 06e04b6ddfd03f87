#!/bin/sh
# Runs upstream's controller and webhook suites of LeaderWorkerSets against our controllers and webhooks, beside a real
# API server. Upstream's Go module comes from the module proxy, and nothing of it is kept here: a copy in a temporary
# folder gets our definition, and our way to start instead of its manager (tests/tools/conformance).
#
#   sh scripts/conformance.sh [controllers|webhooks]... [-- FLAG...]
#
# Flags go to Ginkgo. OWN=1 runs the suites with upstream's own manager instead, to compare.
set -eu

version=v0.9.0
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${MOORING_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/mooring/tools}/bin
out=${OUT:-$root/bench/out/conformance}
suites=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    suites="$suites $1"
    shift
done
[ $# -eq 0 ] || shift
[ -n "$suites" ] || suites="webhooks controllers"

command -v go >/dev/null || { echo "make conformance needs Go, which was not found" >&2; exit 1; }
for tool in etcd kube-apiserver kubectl; do
    [ -x "$bin/$tool" ] || { echo "there is no $tool in $bin; make tools builds it" >&2; exit 1; }
done

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
mkdir -p "$out" "$folder/none"
module=$(cd "$folder/none" && go mod download -json "sigs.k8s.io/lws@$version" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
cp -r "$module" "$folder/lws"
chmod -R u+w "$folder/lws"
if [ -z "${OWN:-}" ]; then
    cp "$root"/config/crd/leaderworkerset.x-k8s.io_leaderworkersets.yaml "$folder/lws/config/crd/bases/"
    mkdir "$folder/lws/test/mooring"
    cp "$root/tests/tools/conformance/guest.go" "$folder/lws/test/mooring/"
    for suite in controllers webhooks; do
        cp "$root/tests/tools/conformance/${suite}_suite_test.go" "$folder/lws/test/integration/$suite/suite_test.go"
    done
fi

failed=0
for suite in $suites; do
    (
        cd "$folder/lws/test/integration/$suite"
        go test -c -o "$folder/$suite.test" .
        KUBEBUILDER_ASSETS=$bin MOORING="$root/.venv/bin/python -m mooring" MOORING_LOG="$out/$suite-mooring.log" \
            "$folder/$suite.test" -ginkgo.no-color -ginkgo.json-report="$out/$suite.json" "$@"
    ) || failed=1
done
exit $failed
