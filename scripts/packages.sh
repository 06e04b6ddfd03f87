#!/bin/sh
# Installs the system packages that parts of Mooring use, where it may: as root, with apt. Elsewhere it changes nothing;
# what needs a missing package says so itself, with the way to get it.
#
#   bubblewrap      gives the pods of the process node their own view of the file system
#   git, ssh        fetch notebooks in pods of the process node
#   openssh-server  serves a repository in tests; only in CI, because elsewhere the package would open a port
set -eu

missing=
command -v bwrap >/dev/null || missing="$missing bubblewrap"
command -v git >/dev/null || missing="$missing git"
command -v ssh >/dev/null || missing="$missing openssh-client"
[ -z "${CI:-}" ] || [ -x /usr/sbin/sshd ] || missing="$missing openssh-server"

[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
echo "setup: installing$missing with apt"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # one word per package
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1; then
    echo "setup: apt could not install$missing; going on without." >&2
fi
