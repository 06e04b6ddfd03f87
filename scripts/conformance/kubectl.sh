#!/bin/sh
# Runs kubectl's own test scripts, function by function, against the embedded cluster and against a real control plane in
# the same shape. Upstream's Go module comes from the module proxy, and nothing of it is kept here.
#
#   sh scripts/conformance/kubectl.sh [embedded|real]... [-- FUNCTION...]
#
#   OUT=DIR             where what the functions say goes (default: bench/out/conformance)
#   MOORING_TOOLS=DIR   where the real programs are, as for scripts/tools.sh
set -eu

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${MOORING_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/mooring/tools}/bin
OUT=${OUT:-$ROOT/bench/out/conformance}

homes=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    embedded | real) homes="$homes $1" ;;
    *) echo "conformance: there is no home $1; there are embedded and real" >&2; exit 1 ;;
    esac
    shift
done
[ $# -eq 0 ] || shift

command -v go >/dev/null || { echo "conformance: Go was not found; it fetches kubectl's scripts" >&2; exit 1; }
for tool in bash jq curl openssl; do
    command -v $tool >/dev/null || { echo "conformance: there is no $tool; kubectl's scripts use it" >&2; exit 1; }
done
for tool in etcd kube-apiserver kube-controller-manager kubectl; do
    [ -x "$BIN/$tool" ] || { echo "conformance: there is no $tool in $BIN; \`make tools\` builds it, once" >&2; exit 1; }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
cd "$ROOT/tests/tools/controlplane"
module=$(go list -m -f '{{.Dir}}' k8s.io/kubernetes)
[ -n "$module" ] || { go mod download k8s.io/kubernetes && module=$(go list -m -f '{{.Dir}}' k8s.io/kubernetes); }
# A plug-in of kubectl that one of the functions is about.
go build -buildvcs=false -o "$folder/kubectl-convert" k8s.io/kubernetes/cmd/kubectl-convert

cd "$ROOT"
failed=0
for home in ${homes:-embedded real}; do
    PATH=$folder:$PATH .venv/bin/python -m tests.conformance.kubectl_scripts.run "$home" "$module" "$OUT/kubectl" "$@" || failed=1
done
echo "conformance: what each function said is in $OUT/kubectl" >&2
exit $failed
