"""The checks of level restricted, beside those of baseline: what a hardened pod must say."""

from typing import Final

from mooring.api.core.podsecurity.baseline import proc_mounts_of, set_seccomp
from mooring.api.core.podsecurity.breaches import (
    Breach,
    SecuredPod,
    containers_named,
    one_or_many,
    quoted,
    setters,
)

__all__ = [
    "dropped_capabilities",
    "no_escalation",
    "no_root",
    "no_root_user",
    "proc_mount_strict",
    "restricted_volumes",
    "seccomp_strict",
]

_VOLUMES: Final = frozenset(
    {
        *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"),
        "secret",
    }
)


def no_escalation(pod: SecuredPod) -> Breach | None:
    if pod.minor < 8 or (pod.minor >= 25 and pod.is_windows):
        return None
    names = pod.having(lambda context: context.get("allowPrivilegeEscalation") is not False)
    said = f"{containers_named(names)} must set securityContext.allowPrivilegeEscalation=false"
    return Breach("allowPrivilegeEscalation != false", said) if names else None


def dropped_capabilities(pod: SecuredPod) -> Breach | None:
    if pod.minor >= 25 and pod.is_windows:
        return None
    keeping, adding, added = [], [], set()
    for name, context, _ in pod.containers():
        given = context.get("capabilities") or {}
        if "ALL" not in (given.get("drop") or ()):
            keeping.append(name)
        if found := set(given.get("add") or ()) - {"NET_BIND_SERVICE"}:
            adding.append(name)
            added |= found
    details = []
    if keeping:
        details.append(f'{containers_named(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        shown = quoted(sorted(added))
        details.append(f"{containers_named(adding)} must not include {shown} in securityContext.capabilities.add")
    return Breach("unrestricted capabilities", "; ".join(details)) if details else None


def proc_mount_strict(pod: SecuredPod) -> Breach | None:
    return proc_mounts_of(pod) if pod.minor >= 35 else None


def restricted_volumes(pod: SecuredPod) -> Breach | None:
    names, kinds = [], set()
    for volume in pod.spec.get("volumes") or ():
        found = [kind for kind in volume if kind != "name"]
        if not _VOLUMES.intersection(found):
            names.append(volume["name"])
            kinds.add(found[0] if found else "unknown")
    if not names:
        return None
    words = one_or_many("restricted volume type", "restricted volume types", list(kinds))
    who = f"{one_or_many('volume', 'volumes', names)} {quoted(names)} {one_or_many('uses', 'use', names)}"
    return Breach("restricted volume types", f"{who} {words} {quoted(sorted(kinds))}")


def no_root(pod: SecuredPod) -> Breach | None:
    if pod.minor >= 35 and pod.has_own_users:
        return None
    told, reason = pod.security.get("runAsNonRoot"), "runAsNonRoot != true"
    who = setters(told is False, pod.having(lambda context: context.get("runAsNonRoot") is False))
    if who:
        return Breach(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    silent = [] if told else pod.having(lambda context: context.get("runAsNonRoot") is None)
    if not silent:
        return None
    return Breach(reason, f"pod or {containers_named(silent)} must set securityContext.runAsNonRoot=true")


def no_root_user(pod: SecuredPod) -> Breach | None:
    if pod.minor < 23 or (pod.minor >= 35 and pod.has_own_users):
        return None
    who = setters(pod.security.get("runAsUser") == 0, pod.having(lambda context: context.get("runAsUser") == 0))
    return Breach("runAsUser=0", f"{who} must not set runAsUser=0") if who else None


def seccomp_strict(pod: SecuredPod) -> Breach | None:
    if pod.minor < 19 or (pod.minor >= 25 and pod.is_windows):
        return None
    if breach := set_seccomp(pod):
        return breach
    silent = [] if pod.security.get("seccompProfile") else pod.having(lambda context: not context.get("seccompProfile"))
    if not silent:
        return None
    said = f'{containers_named(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Breach("seccompProfile", f"pod or {said}")
