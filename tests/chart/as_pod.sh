#!/bin/sh
# Runs a command with the file system that the chart gives a container: the root read-only, /tmp empty and writable, and the
# folder of a service account where a kubelet puts it. It takes root, and mounts that nobody else sees.
#
#   as_pod.sh FOLDER COMMAND...
set -eu
if [ "${AS_POD:-}" != inside ]; then
    AS_POD=inside exec unshare --mount "$0" "$@"
fi
unset AS_POD
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
mount --bind "$1" /run/secrets/kubernetes.io/serviceaccount
mount -t tmpfs tmpfs /tmp
mount -o remount,ro,bind /
shift
exec "$@"
