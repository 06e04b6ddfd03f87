#!/bin/sh
# Installs the system packages that parts of Mooring use, where it may: as root, with apt. Elsewhere it changes nothing;
# what needs a missing package says so itself, with the way to get it.
#
#   bubblewrap      gives the pods of the process node their own view of the file system
#   git, ssh        fetch notebooks in pods of the process node
#   openssh-server  serves a repository in tests; only in CI, because elsewhere the package would open a port
#   chromium        looks at the web page in tests; only in CI, because elsewhere it is half a gigabyte for those tests alone
set -eu

missing=
command -v bwrap >/dev/null || missing="$missing bubblewrap"
command -v git >/dev/null || missing="$missing git"
command -v ssh >/dev/null || missing="$missing openssh-client"
[ -z "${CI:-}" ] || [ -x /usr/sbin/sshd ] || missing="$missing openssh-server"
browser() {
    for program in chromium-headless-shell chromium chromium-browser google-chrome; do
        ! command -v "$program" >/dev/null || return 0
    done
    return 1
}
wants_browser=
[ -z "${CI:-}" ] || browser || wants_browser=yes

[ -n "$missing$wants_browser" ] || exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null 2>&1 || true
if [ -n "$wants_browser" ]; then
    # Debian has it without windows as well; others have the whole only.
    if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
        missing="$missing chromium-headless-shell"
    else
        missing="$missing chromium"
    fi
fi
echo "setup: installing$missing with apt"
# shellcheck disable=SC2086 # one word per package
if ! apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1; then
    echo "setup: apt could not install$missing; going on without." >&2
fi
