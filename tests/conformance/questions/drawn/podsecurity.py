"""Pods against levels of Pod Security: each level in each version, with several fields drawn at once."""

from __future__ import annotations

import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.reads import NS
from tests.conformance.questions.drawn.templates import ABSENT, drawn, many, one
from tests.conformance.questions.stories import Step

LEVELS = ("baseline", "baseline", "restricted", "restricted", "restricted", "privileged")
VERSIONS = ("latest", "latest", "v1.0", "v1.7", "v1.8", "v1.18", "v1.19", "v1.22", "v1.24", "v1.25", "v1.26", "v1.27")
NEWER = ("v1.28", "v1.29", "v1.31", "v1.32", "v1.34", "v1.35", "v1.36")
PROFILE = one(
    {"type": "Unconfined"},
    {"type": "RuntimeDefault"},
    {"type": "RuntimeDefault"},
    {"type": "Localhost", "localhostProfile": "a"},
)
SELINUX = one(
    *({"type": name} for name in ("spc_t", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")),
    {"user": "u"},
    {"role": "r"},
    {"type": "", "level": "s0"},
    {"type": "x", "user": "u", "role": "r"},
)
# What a container and a pod may both say.
BOTH: Object = {
    "runAsUser": one(ABSENT, ABSENT, ABSENT, 0, 5),
    "runAsNonRoot": one(ABSENT, True, True, True, False),
    "seccompProfile": one(ABSENT, PROFILE, PROFILE),
    "appArmorProfile": one(ABSENT, ABSENT, ABSENT, PROFILE),
    "seLinuxOptions": one(*(ABSENT,) * 4, SELINUX),
}
WINDOWS: Object = {"windowsOptions": one(*(ABSENT,) * 5, {"hostProcess": True}, {"hostProcess": False}, {})}
CONTAINER: Object = BOTH | {
    "privileged": one(*(ABSENT,) * 5, True, False),
    "allowPrivilegeEscalation": one(False, False, False, True, ABSENT),
    "procMount": one(*(ABSENT,) * 5, "Unmasked", "Default"),
    "capabilities": one(
        *({"drop": ["ALL"]},) * 4,
        ABSENT,
        {"add": ["SYS_ADMIN", "NET_ADMIN"]},
        {"add": ["CHOWN", "KILL"], "drop": ["ALL"]},
        {"drop": ["NET_RAW"]},
        {"add": ["NET_BIND_SERVICE"], "drop": ["ALL", "NET_RAW"]},
        {"add": ["AUDIT_WRITE", "SETUID", "SYS_TIME", "ALL"]},
    ),
}
HOST = one("", "", "10.0.0.1", "127.0.0.1", "localhost", "::1")
PROBE = one(
    ABSENT,
    ABSENT,
    ABSENT,
    {"httpGet": {"port": 80, "host": HOST}},
    {"tcpSocket": {"port": 80, "host": HOST}},
)
HANDLER = one(ABSENT, ABSENT, {"httpGet": {"port": 80, "host": HOST}}, {"tcpSocket": {"port": 80, "host": HOST}})
VOLUMES: tuple[Object, ...] = (
    {"emptyDir": {}},
    {"configMap": {"name": "c"}},
    {"secret": {"secretName": "s"}},
    {"projected": {"sources": []}},
    {"downwardAPI": {}},
    {"persistentVolumeClaim": {"claimName": "c"}},
    {"csi": {"driver": "d"}},
    {
        "ephemeral": {
            "volumeClaimTemplate": {
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}
            }
        }
    },
    {"image": {"reference": "i"}},
    {"hostPath": {"path": "/a"}},
    {"hostPath": {"path": "/b"}},
    {"nfs": {"server": "s", "path": "/"}},
    {"iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:a", "lun": 0}},
    {"fc": {"targetWWNs": ["a"], "lun": 0}},
    {"rbd": {"monitors": ["m"], "image": "i"}},
    {"cephfs": {"monitors": ["m"]}},
    {"glusterfs": {"endpoints": "e", "path": "p"}},
    {"cinder": {"volumeID": "v"}},
    {"azureFile": {"secretName": "s", "shareName": "n"}},
    {"awsElasticBlockStore": {"volumeID": "v"}},
    {"gcePersistentDisk": {"pdName": "p"}},
    {"flexVolume": {"driver": "a/b"}},
)
SYSCTLS = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start", "kernel.msgmax"),
    *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
    *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "kernel.shmmax"),
)


def container(name: str, draw: random.Random, windows: bool) -> Object:
    context = drawn(draw, WINDOWS) if windows else drawn(draw, CONTAINER)
    ports = drawn(
        draw, one(ABSENT, ABSENT, ABSENT, many((1, 2), {"containerPort": one(80, 81, 82), "hostPort": one(0, 80)}))
    )
    made: Object = {"name": name, "image": "i"}
    if context and draw.random() < 0.9:
        made["securityContext"] = context
    if ports is not ABSENT:
        # A port of a host is the same one in the container where the pod is on the network of the host.
        made["ports"] = [{**each, "containerPort": each["hostPort"] or each["containerPort"]} for each in ports]
    return made


def pod(draw: random.Random) -> Object:
    windows = draw.random() < 0.12
    main = container("main", draw, windows)
    main |= drawn(draw, {"livenessProbe": PROBE, "readinessProbe": PROBE, "startupProbe": PROBE})
    main |= drawn(draw, {"lifecycle": one(ABSENT, ABSENT, {"postStart": HANDLER, "preStop": HANDLER})})
    if not all(main.get("lifecycle", {"": 1}).values()):
        del main["lifecycle"]
    spec: Object = {"containers": [main]}
    if draw.random() < 0.4:
        spec["containers"].append(container("side", draw, windows))
    if draw.random() < 0.3:
        spec["initContainers"] = [container("init", draw, windows)]
    context = drawn(draw, WINDOWS if windows else BOTH)
    if not windows and draw.random() < 0.2:
        names = draw.sample(SYSCTLS, draw.choice((1, 2, 3)))
        context["sysctls"] = [{"name": name, "value": "1"} for name in names]
    if context and draw.random() < 0.9:
        spec["securityContext"] = context
    for name, chance in (("hostNetwork", 0.12), ("hostPID", 0.12), ("hostIPC", 0.12)):
        if draw.random() < chance and not windows:
            spec[name] = True
    if draw.random() < 0.12 and not windows and not spec.keys() & {"hostNetwork", "hostPID", "hostIPC"}:
        spec["hostUsers"] = draw.choice((True, False))
    if draw.random() < 0.35:
        chosen = draw.sample(VOLUMES, draw.choice((1, 1, 2, 3)))
        spec["volumes"] = [{"name": f"v{index}", **each} for index, each in enumerate(chosen)]
    if windows:
        spec["os"] = {"name": "windows"}
    elif draw.random() < 0.2:
        spec["os"] = {"name": "linux"}
    metadata: Object = {"name": "p"}
    if draw.random() < 0.12:
        value = draw.choice(("unconfined", "runtime/default", "localhost/a", ""))
        names = draw.sample(("main", "side"), draw.choice((1, 2)))
        metadata["annotations"] = {f"container.apparmor.security.beta.kubernetes.io/{name}": value for name in names}
    return {"metadata": metadata, "spec": spec}


def levels(number: int) -> list[Step]:
    draw = random.Random(f"podsecurity {number}")
    steps: list[Step] = []
    for _ in range(6):
        labels: dict[str, Any] = {}
        for mode in ("enforce", "audit", "warn"):
            level, version = draw.choice(LEVELS), draw.choice((*VERSIONS, *NEWER))
            labels[f"pod-security.kubernetes.io/{mode}"] = level if draw.random() < 0.8 else None
            labels[f"pod-security.kubernetes.io/{mode}-version"] = version if draw.random() < 0.9 else None
        body = {"metadata": {"labels": labels}}
        steps.append({"do": "PATCH /api/v1/namespaces/$NS", "type": "merge", "body": body, "pick": ["metadata/labels"]})
        for turn in range(9):
            obj = pod(draw)
            # A real server takes a moment to see the labels.
            later: Step = {"pick": ["kind"]} if turn else {"pick": ["kind"], "wait": 0.3}
            # A template of pods is only warned of.
            if draw.random() < 0.2:
                # Of several annotations, the first one would be chance.
                notes = obj["metadata"].get("annotations", {})
                obj["metadata"] |= {"annotations": dict(list(notes.items())[:1])}
                template = {"metadata": {"labels": {"a": "b"}, **obj["metadata"]}, "spec": obj["spec"]}
                spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
                do = "POST /apis/apps/v1/namespaces/$NS/deployments?dryRun=All"
                steps.append({"do": do, "body": {"metadata": {"name": "d"}, "spec": spec}, **later})
            else:
                steps.append({"do": f"POST {NS}/pods?dryRun=All", "body": obj, **later})
    # Pods that are there are held to new labels.
    steps.append(
        {"do": "PATCH /api/v1/namespaces/$NS", "type": "merge", "body": {"metadata": {"labels": None}}, "quiet": True}
    )
    for index in range(4):
        obj = pod(draw)
        obj["metadata"]["name"] = f"p{index}"
        steps.append({"do": f"POST {NS}/pods", "body": obj, "quiet": True})
    for version in draw.sample((*VERSIONS[1:], *NEWER, "1.2", "v1.x"), 3):
        for level in ("baseline", "restricted", "privileged", "x"):
            name = "pod-security.kubernetes.io/enforce"
            body = {"metadata": {"labels": {name: level, f"{name}-version": version}}}
            do = "PATCH /api/v1/namespaces/$NS"
            steps.append({"do": do, "type": "merge", "body": body, "pick": ["metadata/labels"]})
    return steps


def stories() -> dict[str, list[Step]]:
    return {f"podsecurity-{number}": levels(number) for number in range(14)}
