"""The checks of level baseline: what lets a pod out of its container."""

from typing import Final

from mooring.api.core.podsecurity.breaches import (
    Breach,
    SecuredPod,
    containers_named,
    one_or_many,
    quoted,
    setters,
)
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object

__all__ = [
    "app_armor",
    "capabilities",
    "host_namespaces",
    "host_paths",
    "host_ports",
    "host_probes",
    "privileged",
    "proc_mount",
    "proc_mounts_of",
    "se_linux",
    "seccomp",
    "set_seccomp",
    "sysctls",
    "windows_host_process",
]

_APP_ARMOR_ANNOTATION: Final = "container.apparmor.security.beta.kubernetes.io/"
_PROFILES: Final = ("RuntimeDefault", "Localhost")
_CAPABILITIES: Final = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
        *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)
_SE_LINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t")
_SECCOMP_OF_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
# By the version from which on they are allowed.
_SYSCTLS: Final = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
}


def app_armor(pod: SecuredPod) -> Breach | None:
    def bad(context: Object) -> str:
        kind = (context.get("appArmorProfile") or {}).get("type", _PROFILES[0])
        return "" if kind in _PROFILES else kind

    names = pod.having(bad)
    values = sorted({kind for kind in (bad(pod.security), *(bad(each) for _, each, _ in pod.containers())) if kind})
    said = [text for text in (setters(bool(bad(pod.security)), names),) if text]
    annotations = sorted(
        f"{name}={go_quote(value)}"
        for name, value in pod.annotations.items()
        if name.startswith(_APP_ARMOR_ANNOTATION)
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    )
    if annotations:
        values += annotations
        said.append(one_or_many("annotation", "annotations", annotations))
    if not said:
        return None
    reason = one_or_many("forbidden AppArmor profile", "forbidden AppArmor profiles", values)
    return Breach(reason, f"{' and '.join(said)} must not set AppArmor profile type to {quoted(values)}")


def capabilities(pod: SecuredPod) -> Breach | None:
    names, added = [], set()
    for name, context, _ in pod.containers():
        found = set((context.get("capabilities") or {}).get("add") or ()) - _CAPABILITIES
        if found:
            names.append(name)
            added |= found
    if not names:
        return None
    said = f"{containers_named(names)} must not include {quoted(sorted(added))} in securityContext.capabilities.add"
    return Breach("non-default capabilities", said)


def host_namespaces(pod: SecuredPod) -> Breach | None:
    found = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(field)]
    return Breach("host namespaces", ", ".join(found)) if found else None


def host_paths(pod: SecuredPod) -> Breach | None:
    names = [volume["name"] for volume in pod.spec.get("volumes") or () if "hostPath" in volume]
    if not names:
        return None
    return Breach("hostPath volumes", f"{one_or_many('volume', 'volumes', names)} {quoted(names)}")


def host_ports(pod: SecuredPod) -> Breach | None:
    names, ports = [], set()
    for name, _, container in pod.containers():
        found = {str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")}
        if found:
            names.append(name)
            ports |= found
    if not names:
        return None
    shown = f"{one_or_many('hostPort', 'hostPorts', list(ports))} {', '.join(sorted(ports))}"
    return Breach("hostPort", f"{containers_named(names)} {one_or_many('uses', 'use', names)} {shown}")


def host_probes(pod: SecuredPod) -> Breach | None:
    if pod.minor < 34:
        return None
    names, hosts = set(), set()
    for name, _, container in pod.containers():
        lifecycle = container.get("lifecycle") or {}
        handlers = [container.get(probe) for probe in ("livenessProbe", "readinessProbe", "startupProbe")]
        handlers += [lifecycle.get(hook) for hook in ("postStart", "preStop")]
        for handler in handlers:
            found = {(handler or {}).get(kind, {}).get("host") for kind in ("httpGet", "tcpSocket")} - {None, ""}
            if found:
                names.add(name)
                hosts |= found
    if not names:
        return None
    shown = f"{one_or_many('probe or lifecycle host', 'probe or lifecycle hosts', list(hosts))} {quoted(sorted(hosts))}"
    bad = sorted(names)
    return Breach("probe or lifecycle host", f"{containers_named(bad)} {one_or_many('uses', 'use', bad)} {shown}")


def privileged(pod: SecuredPod) -> Breach | None:
    names = pod.having(lambda context: context.get("privileged"))
    said = f"{containers_named(names)} must not set securityContext.privileged=true"
    return Breach("privileged", said) if names else None


def proc_mounts_of(pod: SecuredPod) -> Breach | None:
    names, kinds = [], set()
    for name, context, _ in pod.containers():
        kind = context.get("procMount", "Default")
        if kind != "Default":
            names.append(name)
            kinds.add(kind)
    said = f"{containers_named(names)} must not set securityContext.procMount to {quoted(sorted(kinds))}"
    return Breach("procMount", said) if names else None


def proc_mount(pod: SecuredPod) -> Breach | None:
    return None if pod.minor >= 35 and pod.has_own_users else proc_mounts_of(pod)


def se_linux(pod: SecuredPod) -> Breach | None:
    allowed = (*_SE_LINUX_TYPES, "container_engine_t") if pod.minor >= 31 else _SE_LINUX_TYPES
    contexts = [(None, pod.security), *((name, context) for name, context, _ in pod.containers())]
    bad: list[str | None] = []
    types, user, role = set(), False, False
    for name, context in contexts:
        options = context.get("seLinuxOptions") or {}
        kind = options.get("type", "")
        if kind not in allowed:
            types.add(kind)
        user, role = user or bool(options.get("user")), role or bool(options.get("role"))
        if kind not in allowed or options.get("user") or options.get("role"):
            bad.append(name)
    if not bad:
        return None
    data = [f"{one_or_many('type', 'types', list(types))} {quoted(sorted(types))}"] if types else []
    data += ["user may not be set"] * user + ["role may not be set"] * role
    who = setters(None in bad, [name for name in bad if name is not None])
    return Breach("seLinuxOptions", f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}")


def set_seccomp(pod: SecuredPod) -> Breach | None:
    """Profiles that somebody set and that let through too much."""

    def bad(context: Object) -> str:
        kind = (context.get("seccompProfile") or {}).get("type", _PROFILES[0])
        return "" if kind in _PROFILES else kind

    names = pod.having(bad)
    values = {kind for kind in (bad(pod.security), *(bad(each) for _, each, _ in pod.containers())) if kind}
    if not values:
        return None
    who = setters(bool(bad(pod.security)), names)
    return Breach(
        "seccompProfile", f"{who} must not set securityContext.seccompProfile.type to {quoted(sorted(values))}"
    )


def seccomp(pod: SecuredPod) -> Breach | None:
    if pod.minor >= 19:
        return set_seccomp(pod)
    keys = {_SECCOMP_OF_POD, *(_SECCOMP_OF_CONTAINER + name for name, _, _ in pod.containers())}
    found = sorted(
        f"{key}={go_quote(value)}"
        for key, value in pod.annotations.items()
        if key in keys and value not in ("runtime/default", "docker/default") and not value.startswith("localhost/")
    )
    if not found:
        return None
    return Breach("seccompProfile", f"forbidden {one_or_many('annotation', 'annotations', found)} {', '.join(found)}")


def sysctls(pod: SecuredPod) -> Breach | None:
    given = [each["name"] for each in pod.security.get("sysctls") or ()]
    found = [name for name in given if _SYSCTLS.get(name, pod.minor + 1) > pod.minor]
    return Breach("forbidden sysctls", ", ".join(found)) if found else None


def windows_host_process(pod: SecuredPod) -> Breach | None:
    def bad(context: Object) -> bool:
        return bool((context.get("windowsOptions") or {}).get("hostProcess"))

    who = setters(bad(pod.security), pod.having(bad))
    return Breach("hostProcess", f"{who} must not set securityContext.windowsOptions.hostProcess=true") if who else None
