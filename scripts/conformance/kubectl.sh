#!/bin/sh
# Runs kubectl's own test scripts, function by function, against the embedded cluster and against a real control plane in
# the same shape. The scripts come out of Kubernetes' Go module, from the module proxy; nothing of them is kept here.
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

for tool in bash jq curl openssl; do
    command -v $tool >/dev/null || { echo "conformance: there is no $tool; kubectl's scripts use it" >&2; exit 1; }
done
for tool in etcd kube-apiserver kube-controller-manager kubectl; do
    [ -x "$BIN/$tool" ] || { echo "conformance: there is no $tool in $BIN; \`make tools\` builds it, once" >&2; exit 1; }
done
# The first is a plug-in of kubectl that one of the functions is about.
sh "$ROOT/scripts/tools.sh" kubectl-convert kubectl-scripts

cd "$ROOT"
failed=0
for home in ${homes:-embedded real}; do
    .venv/bin/python -m tests.conformance.kubectl_scripts.run "$home" "$OUT/kubectl" "$@" || failed=1
done
echo "conformance: what each function said is in $OUT/kubectl" >&2
exit $failed
