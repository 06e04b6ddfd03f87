#!/bin/sh
# Makes .venv/ in the checkout, with Mooring and its development tools at the versions of uv.lock:
# with uv where there is one, with venv and pip where there is not.
#
#   PYTHON=python3.13   use this interpreter
#   UV=                 do as if there were no uv
set -eu
cd "$(dirname "$0")/.."

usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if usable "$candidate"; then
            command -v "$candidate"
            return
        fi
        if [ "$candidate" = "${PYTHON:-}" ]; then
            echo "setup: PYTHON=$PYTHON is not a Python 3.11 or newer with venv." >&2
            exit 1
        fi
    done
    echo "setup: Mooring needs Python 3.11 or newer (with venv; on Debian and Ubuntu: apt install python3-venv)." >&2
    echo "setup: none was found on PATH. Install one, or name it: make PYTHON=/path/to/python3.12 setup" >&2
    exit 1
}

with_uv() {
    echo "setup: .venv with $("$UV" --version)"
    "$UV" sync --locked --quiet ${PYTHON:+--python "$PYTHON"}
}

with_pip() {
    python=$(find_python)
    echo "setup: .venv with $("$python" --version) and pip"
    "$python" -m venv --clear .venv
    # Dependency groups need pip 25.1, which is newer than what Python 3.11 to 3.13 bring along.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
    .venv/bin/python scripts/constraints.py >.venv/constraints.txt
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --constraint .venv/constraints.txt --editable . --group dev
}

sh scripts/packages.sh

UV=${UV-$(command -v uv || true)}
if [ -n "$UV" ]; then
    with_uv || {
        echo "setup: uv could not do it (see above); trying venv and pip." >&2
        with_pip
    }
else
    with_pip
fi
.venv/bin/mooring --version
touch .venv/ready
