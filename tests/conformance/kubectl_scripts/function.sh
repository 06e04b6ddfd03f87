#!/usr/bin/env bash
# Runs one function of kubectl's own test scripts against a server that is there already.
#
#   function.sh FOLDER FUNCTION
#
# FOLDER has upstream's test/cmd and hack. Their own set-up runs, except for what would build programs and start a store:
# those functions are replaced here, after they were read. FUNCTION is one that upstream records, or runTests, which means
# what it checks itself between them. SECURE_API_PORT says where the server is; it must know the token `admin-token`.
set -o errexit -o nounset -o pipefail

cd "$1"
chosen=$2
# What upstream puts into /tmp by name, and leaves there, goes with the folder of this run.
mktemp() { command mktemp "${@/#\/tmp\//$TMPDIR/}"; }
source hack/lib/init.sh
source hack/lib/test.sh
source "$PWD/test/cmd/legacy-script.sh"

make() { :; }
kube::etcd::start() { :; }
kube::etcd::cleanup() { :; }
# Upstream asks sed for its help in a pipe that breaks at times on a busy machine.
kube::util::ensure-gnu-sed() { SED=sed; }
# It looks whether the server was started with upstream's own authority.
kube::util::test_client_certificate_authentication_enabled() { :; }

setup
export SUPPORTED_RESOURCES=("*")
if [ "$chosen" = runTests ]; then
    record_command() { :; }
    runTests
    exit
fi

# With WHAT, runTests asks for one function, once everything is set that they share.
WHAT=chosen
record_command() {
    set +o nounset
    set +o errexit
    # Upstream's functions find the namespace that the one before them made.
    create_and_use_new_namespace
    (eval "$chosen")
    exit $?
}
runTests
