"""All checks of a level, in the order in which the API tells what they find."""

from collections.abc import Callable
from typing import Final

from mooring.api.core.podsecurity import baseline, restricted
from mooring.api.core.podsecurity.breaches import Breach, SecuredPod
from mooring.api.core.podsecurity.levels import SecurityLevel
from mooring.kube.objects import Object

__all__ = ["breaches"]

_Check = Callable[[SecuredPod], Breach | None]

# With the version from which on a stricter check of level restricted takes its place, if one does.
_BASELINE: Final[tuple[tuple[_Check, int | None], ...]] = (
    (baseline.app_armor, None),
    (baseline.capabilities, 22),
    (baseline.host_namespaces, None),
    (baseline.host_paths, 0),
    (baseline.host_ports, None),
    (baseline.host_probes, None),
    (baseline.privileged, None),
    (baseline.proc_mount, 35),
    (baseline.se_linux, None),
    (baseline.seccomp, 19),
    (baseline.sysctls, None),
    (baseline.windows_host_process, None),
)
# With the version from which on there is such a check.
_RESTRICTED: Final[tuple[tuple[_Check, int], ...]] = (
    (restricted.no_escalation, 8),
    (restricted.dropped_capabilities, 22),
    (restricted.proc_mount_strict, 35),
    (restricted.restricted_volumes, 0),
    (restricted.no_root, 0),
    (restricted.no_root_user, 23),
    (restricted.seccomp_strict, 19),
)


def breaches(level: SecurityLevel, metadata: Object, spec: Object) -> list[Breach]:
    """What of a pod, or of its template, a level does not allow."""
    if level.level == "privileged":
        return []
    pod = SecuredPod(metadata.get("annotations") or {}, spec, level.minor)
    strict = level.level == "restricted"
    checks = [check for check, until in _BASELINE if not strict or until is None or pod.minor < until]
    checks += [check for check, since in _RESTRICTED if strict and pod.minor >= since]
    return [found for check in checks if (found := check(pod)) is not None]
