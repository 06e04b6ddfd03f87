#!/bin/sh
# Shows what `mooring explain` says about two workloads on the example fleet: one that lands and one that cannot.
set -u
cd "$(dirname "$0")/.."

show() {
    printf '\n$ mooring %s\n\n' "$*"
    .venv/bin/mooring "$@"
    code=$?
    # 2 means that a pod cannot land, which is what one of these is here to show.
    [ "$code" -eq 0 ] || [ "$code" -eq 2 ] || exit "$code"
}

show explain -f examples/chat-frontend.yaml --snapshot examples/fleet.yaml
show explain -f examples/llama-70b.yaml --snapshot examples/fleet.yaml
printf '\nMore to try: examples/embedder.yaml, examples/deepseek-r1.yaml, or a snapshot of a cluster of yours (README.md).\n'
