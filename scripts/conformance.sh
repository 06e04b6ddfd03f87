#!/bin/sh
# Runs suites that other people wrote against Mooring: one script of scripts/conformance per suite.
#
#   sh scripts/conformance.sh             all of them
#   sh scripts/conformance.sh lws e2e     only these
#
# Each script says what it runs and which settings it knows; reports and logs go to bench/out/conformance (OUT=DIR).
set -eu
cd "$(dirname "$0")/conformance"

if [ $# -eq 0 ]; then
    for script in *.sh; do
        set -- "$@" "${script%.sh}"
    done
fi
for suite in "$@"; do
    [ -f "$suite.sh" ] || { echo "conformance: there is no suite $suite; there are:" *.sh >&2; exit 1; }
done

failed=0
for suite in "$@"; do
    sh "$suite.sh" || failed=1
done
exit $failed
