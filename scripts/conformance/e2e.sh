#!/bin/sh
# Runs Kubernetes' own conformance tests on the embedded cluster: those that pass on a real control plane with the same
# simulated nodes. The others stand in tests/conformance/e2e/left_out.yaml, each under its reason.
#
#   sh scripts/conformance/e2e.sh [FLAG...]     the flags are those of python -m tests.conformance.e2e --help
#
#   OUT=DIR             where logs go (default: bench/out/conformance)
#   MOORING_TOOLS=DIR   where the real programs are, as for scripts/tools.sh
set -eu
cd "$(dirname "$0")/../.."

sh scripts/tools.sh kubectl e2e.test
exec .venv/bin/python -m tests.conformance.e2e --out "${OUT:-bench/out/conformance}/e2e" "$@"
