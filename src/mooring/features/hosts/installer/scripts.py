"""The scripts that put Kubernetes on a host and take it away again.

They bear to be run twice, because an agent that is killed runs them again. What they install is noted in a file beside
the bundle, and the other script removes that and nothing else. `{{.BundleDownloadPath}}` is filled in by the agent,
which finds programs in its folder `bin`.
"""

from __future__ import annotations

from shlex import quote
from typing import Final, NamedTuple

from mooring.features.hosts.api.names import ONLINE
from mooring.features.hosts.installer.platforms import Platform

__all__ = ["InstallScripts", "scripts_for"]

_BEGIN: Final = """\
#!/bin/bash
set -euo pipefail
bundle='{{.BundleDownloadPath}}'
noted="$bundle/installed-packages"
"""

_FROM_BUNDLE: Final = """\
if [ -x "$bundle/bin/kubelet" ] && "$bundle/bin/kubelet" --version | grep -qF "$version"; then
  echo "kubelet $version is installed already"
  exit 0
fi
mkdir -p "$bundle"
case "$source" in
  http://* | https://* | file://*)
    curl --fail --silent --show-error --location "$source/$name-$version.tar.gz" | tar -xz -C "$bundle"
    ;;
  /*)
    tar -xzf "$source/$name-$version.tar.gz" -C "$bundle"
    ;;
  *)
    command -v imgpkg >/dev/null || { echo "imgpkg is needed to pull $source; install it"; exit 1; }
    imgpkg pull --recursive --image "$source/$name:$version" --output "$bundle"
    ;;
esac
for program in kubelet containerd runc; do
  [ -x "$bundle/bin/$program" ] || { echo "the bundle $name $version has no bin/$program"; exit 1; }
done
echo "installed Kubernetes $version from $source"
"""

_ONLINE: Final = """\
export DEBIAN_FRONTEND=noninteractive
mkdir -p "$bundle" /etc/apt/keyrings
if [ ! -s /etc/apt/sources.list.d/mooring-kubernetes.list ]; then
  key=/etc/apt/keyrings/mooring-kubernetes.asc
  curl --fail --silent --show-error --location "https://pkgs.k8s.io/core:/stable:/$minor/deb/Release.key" >"$key"
  echo "deb [signed-by=$key] https://pkgs.k8s.io/core:/stable:/$minor/deb/ /" \\
    >/etc/apt/sources.list.d/mooring-kubernetes.list
fi
apt-get update -qq
for package in containerd runc iptables conntrack kubernetes-cni; do
  dpkg -s "$package" >/dev/null 2>&1 && continue
  echo "$package" >>"$noted"
  apt-get install -y -qq --no-install-recommends "$package"
done
if ! kubelet --version 2>/dev/null | grep -qF "$version"; then
  echo kubelet >>"$noted"
  apt-get install -y -qq --no-install-recommends --allow-downgrades "kubelet=${version#v}-*"
fi
systemctl disable --now kubelet containerd >/dev/null 2>&1 || true
echo "installed Kubernetes $version from packages"
"""

_REMOVE_BUNDLE: Final = """\
rm -rf "$bundle/bin" "$bundle/opt"
echo "removed Kubernetes"
"""

_REMOVE_PACKAGES: Final = """\
export DEBIAN_FRONTEND=noninteractive
if [ -s "$noted" ]; then
  sort -u "$noted" | xargs apt-get purge -y -qq
fi
rm -f "$noted" /etc/apt/sources.list.d/mooring-kubernetes.list /etc/apt/keyrings/mooring-kubernetes.asc
echo "removed Kubernetes"
"""


class InstallScripts(NamedTuple):
    install: str
    uninstall: str


def scripts_for(platform: Platform, architecture: str, version: str, repository: str) -> InstallScripts:
    """The scripts for one host. `repository` is where bundles are, or `online`."""
    if repository == ONLINE:
        minor = ".".join(version.split(".")[:2])
        install = f"{_BEGIN}version={quote(version)}\nminor={quote(minor)}\n{_ONLINE}"
        return InstallScripts(install, f"{_BEGIN}{_REMOVE_PACKAGES}")
    name = f"kubernetes-{platform.slug}-{architecture}"
    given = f"version={quote(version)}\nname={quote(name)}\nsource={quote(repository.rstrip('/'))}\n"
    return InstallScripts(f"{_BEGIN}{given}{_FROM_BUNDLE}", f"{_BEGIN}{_REMOVE_BUNDLE}")
