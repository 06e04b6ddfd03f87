#!/bin/sh
# Installs the system packages that parts of Mooring use, where it may: as root, with apt. Elsewhere it changes nothing;
# what needs a missing package says so itself, with the way to get it.
#
#   bubblewrap   gives the pods of the process node their own view of the file system
set -eu

missing=
command -v bwrap >/dev/null || missing="$missing bubblewrap"

[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
echo "setup: installing$missing with apt"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # one word per package
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1; then
    echo "setup: apt could not install$missing; going on without." >&2
fi
