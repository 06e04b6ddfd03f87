#!/bin/sh
# Builds the real programs that the tests compare Mooring with and drive it by, from the Go module proxy:
# etcd, kube-apiserver, kube-scheduler, kube-controller-manager, kubelet, kubectl in two versions, Helm, an operator in Go,
# the manager of JobSets, and Kubernetes' own end-to-end tests.
# kubectl-scripts is a folder, with kubectl's own test scripts out of Kubernetes' module.
# The first run takes minutes; a run with nothing to do takes a fraction of a second.
# With kubelet comes what a node needs beside it, from Debian: containerd, runc, CNI plug-ins and busybox.
#
#   sh scripts/tools.sh                   build what is missing
#   sh scripts/tools.sh kubectl etcd      build only these, if missing
#
#   MOORING_TOOLS=DIR   where they go (default: $XDG_CACHE_HOME/mooring/tools or ~/.cache/mooring/tools)
#   GO=/path/to/go      the Go to build with (1.26 or newer)
set -eu
cd "$(dirname "$0")/.."

TOOLS=${MOORING_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/mooring/tools}
GO=${GO:-go}
CONTROLPLANE=tests/tools/controlplane
ALL="etcd kubectl kube-apiserver kubectl-1.31 operator kube-scheduler kube-controller-manager kubelet helm jobset e2e.test kubectl-scripts"

source_of() {
    case $1 in
    etcd | kube-apiserver | kube-scheduler | kube-controller-manager | kubectl | kubelet) echo $CONTROLPLANE ;;
    kubectl-scripts | kubectl-convert) echo $CONTROLPLANE ;;
    kubectl-1.31) echo tests/tools/kubectl-1.31 ;;
    operator) echo tests/external/go ;;
    helm) echo tests/tools/helm ;;
    e2e.test) echo tests/tools/e2e ;;
    jobset) echo tests/tools/jobset ;;
    *)
        echo "tools: there is no tool named $1; known are: $ALL" >&2
        exit 1
        ;;
    esac
}

package_of() {
    case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    helm) echo helm.sh/helm/v3/cmd/helm ;;
    e2e.test) echo k8s.io/kubernetes/test/e2e ;;
    jobset) echo sigs.k8s.io/jobset ;;
    kube-* | kubectl | kubectl-convert | kubelet) echo "k8s.io/kubernetes/cmd/$1" ;;
    *) echo . ;;
    esac
}

version_of() {
    case $1 in
    etcd) required etcd/server/v3 ;;
    kubectl-1.31) required k8s.io/kubectl | sed s/v0/v1/ ;;
    helm) required helm.sh/helm/v3 ;;
    jobset) required sigs.k8s.io/jobset ;;
    operator) required sigs.k8s.io/controller-runtime ;;
    *) required k8s.io/kubernetes ;;
    esac
}

# The version that the go.mod of $source asks for; staging modules v0.35.8 belong to Kubernetes v1.35.8.
required() {
    awk -v module="$1" 'index($1 " " $2, module) && $0 !~ /=>|^module|cmd\// { for (i = 1; i <= NF; i++) if ($i ~ /^v[0-9]+\.[0-9]/) { print $i; exit } }' "$source/go.mod"
}

# Kubernetes says in /version and `kubectl version` what the linker was told here.
stamps() {
    echo "-s -w"
    case $1 in
    kube* | e2e.test) ;;
    helm) echo "-X helm.sh/helm/v3/internal/version.version=$2" && return ;;
    *) return ;;
    esac
    minor=${2#v1.}
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        echo "-X $package.gitVersion=$2 -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=archive"
    done
}

# Sets source, version and path: a binary's name holds its version and a hash of everything it was made from.
locate() {
    source=$(source_of "$1")
    version=$(version_of "$1")
    path=$TOOLS/store/$1-$version-$(cat "$source"/go.mod "$source"/go.sum "$source"/*.go 2>/dev/null | cksum | cut -d' ' -f1)
}

# The parts of Kubernetes' module that kubectl's scripts use. A module has no programs, and in its cache nothing may be
# written; the scripts want both.
scripts() {
    module=$(cd "$source" && "$GO" mod download -json k8s.io/kubernetes | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
    for part in hack test/cmd test/fixtures test/e2e/testing-manifests third_party/forked/shell2junit; do
        mkdir -p "$1/$part"
        cp -R "$module/$part/." "$1/$part"
    done
    chmod -R u+wx "$1"
}

build() {
    locate "$1"
    if [ ! -x "$path" ]; then
        command -v "$GO" >/dev/null || {
            echo "tools: $1 is missing and there is no Go to build it with. Install Go 1.26 or newer, or name one: GO=/path/to/go" >&2
            exit 1
        }
        echo "tools: building $1 $version ..."
        mkdir -p "$TOOLS/store"
        verb=build
        [ "$1" != e2e.test ] || verb="test -c"
        if [ "$1" = kubectl-scripts ]; then
            scripts "$path.part.$$"
        else
            # shellcheck disable=SC2086 # the verb may be two words
            (cd "$source" && "$GO" $verb -buildvcs=false -ldflags "$(stamps "$1" "$version" | tr '\n' ' ')" -o "$path.part.$$" "$(package_of "$1")")
        fi
        mv "$path.part.$$" "$path"
    fi
    mkdir -p "$TOOLS/bin"
    if [ "$(readlink "$TOOLS/bin/$1" || true)" != "$path" ]; then
        ln -sfn "$path" "$TOOLS/bin/.$1.$$"
        mv "$TOOLS/bin/.$1.$$" "$TOOLS/bin/$1"
    fi
}

# What a real node needs beside its kubelet: where this is root and has apt. Elsewhere nothing is changed, and the tests
# of real nodes say what they miss.
packages() {
    missing=
    command -v containerd >/dev/null || missing="$missing containerd"
    command -v runc >/dev/null || missing="$missing runc"
    command -v busybox >/dev/null || missing="$missing busybox-static"
    command -v ip >/dev/null || missing="$missing iproute2"
    [ -x /usr/lib/cni/bridge ] || missing="$missing containernetworking-plugins"
    [ -n "$missing" ] || return 0
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    echo "tools: installing$missing with apt"
    # shellcheck disable=SC2086 # one word per package
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >/dev/null
}

for tool in ${*:-$ALL}; do
    build "$tool"
    [ "$tool" != kubelet ] || packages
done
