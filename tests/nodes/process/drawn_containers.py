"""Containers drawn from a seed, and what a process node makes of their specs before anything runs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.fields import NodeFields
from mooring.nodes.process.containers.environment.service_links import ApiAddress, service_variables
from mooring.nodes.process.containers.environment.variables import (
    ConfigError,
    command_of,
    environment,
    references,
)
from mooring.nodes.process.containers.sandbox.capabilities import mask
from mooring.nodes.process.containers.sandbox.mount_table import aliases, mount_points
from mooring.nodes.process.containers.sandbox.rights import rights_of
from mooring.nodes.process.containers.sandbox.users import fs_group, users_of
from mooring.nodes.process.pods.storage_limits import StorageUsage, exceeded_limit, limits_storage
from mooring.nodes.process.volumes.contents import VolumeError, content_of, is_content, kind_of, token_projections
from mooring.nodes.process.volumes.contents import references as volume_references
from tests.support.recordings import Draw

NODE = NodeFields("here", "10.0.0.1", {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi"})
_BYTES = base64.b64encode(b"s3\xff").decode()
_KNOWN: dict[tuple[str, str], Object] = {
    ("ConfigMap", "settings"): {
        "metadata": {"name": "settings"},
        "data": {"COLOUR": "red", "a.b": "x", "1st": "no", "COST": "$(COLOUR)"},
        "binaryData": {"raw": _BYTES},
    },
    ("Secret", "keys"): {
        "metadata": {"name": "keys"},
        "data": {"token": _BYTES, "USER": base64.b64encode(b"me").decode()},
    },
    ("Secret", "torn"): {"metadata": {"name": "torn"}, "data": {"x": "%%%"}},
}
_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations", "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP", "status.podIP", "status.podIPs", "metadata.labels['app']",
    "metadata.annotations['said']", "metadata.labels['none']", "status.phase",
)  # fmt: skip
_RESOURCES = (
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
    "limits.ephemeral-storage",
    "requests.hugepages-2Mi",
)
_DIVISORS: tuple[Object, ...] = ({}, {"divisor": "1m"}, {"divisor": "1Mi"}, {"divisor": "0"}, {"divisor": "3"})


def _pod(draw: Draw) -> Object:
    metadata: Object = {"name": "web", "namespace": "shop", "uid": "u-1"}
    metadata["labels"] = {"app": "web", "tier": "x"} if draw.chance(0.7) else None
    metadata["annotations"] = {"said": 'a "quoted" \\ one\nand more', "b": ""} if draw.chance(0.7) else {}
    amounts: Object = {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "250m", "memory": "100M"}}
    amounts = {side: amounts[side] for side in draw.some(tuple(amounts), 0.7)}
    main: Object = {"name": "main", "resources": amounts, **_security(draw)}
    main["command"] = draw.one((["run", "$(A)", "$$(A)"], ["$(B)$(C)"], []))
    main["args"] = draw.one(([], ["--x=$(COLOUR)", "$(unknown) $(", "$A"]))
    spec: Object = {"containers": [main], "serviceAccountName": "robot"}
    spec |= {"enableServiceLinks": draw.chance(0.5)} if draw.chance(0.5) else {}
    spec |= {"hostPID": True} if draw.chance(0.2) else {}
    if draw.chance(0.5):
        common = {"runAsUser": 7, "runAsGroup": 8, "fsGroup": 9, "supplementalGroups": [5, 3], "runAsNonRoot": True}
        spec["securityContext"] = {name: common[name] for name in draw.some(tuple(common), 0.4)}
    return {"metadata": metadata, "spec": spec}


def _security(draw: Draw) -> Object:
    if draw.chance(0.3):
        return {}
    said = {
        "runAsUser": draw.one((0, 7, None)),
        "runAsNonRoot": draw.chance(0.7),
        "privileged": draw.chance(0.3),
        "readOnlyRootFilesystem": draw.chance(0.5),
        "seccompProfile": {"type": draw.one(("RuntimeDefault", "Unconfined"))},
        "capabilities": {
            "add": draw.some(("NET_ADMIN", "CAP_sys_time", "ALL", "NOTHING", "CHOWN"), 0.25),
            "drop": draw.some(("ALL", "KILL", "NET_RAW"), 0.35),
        },
    }
    return {"securityContext": {name: said[name] for name in draw.some(tuple(said), 0.4)}}


def _reference(draw: Draw) -> Object:
    field = {"fieldRef": {"fieldPath": draw.one(_FIELDS)}}
    resource = {"resource": draw.one(_RESOURCES), **draw.one(_DIVISORS), **draw.one(({}, {"containerName": "main"}))}
    key = {"key": draw.one(("COLOUR", "token", "none")), **_optional(draw)}
    return draw.one((
        field, field, {"resourceFieldRef": resource}, {"resourceFieldRef": resource},
        {"configMapKeyRef": {"name": draw.one(("settings", "gone")), **key}},
        {"secretKeyRef": {"name": draw.one(("keys", "keys", "gone")), **key}},
        {"fileKeyRef": {}},
    ))  # fmt: skip


def _optional(draw: Draw) -> Object:
    return {"optional": draw.chance(0.6)} if draw.chance(0.6) else {}


def _tried(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except (ConfigError, VolumeError) as error:
        return f"{type(error).__name__}: {error}"


def _sources(kind: str, name: str) -> Object | None:
    return _KNOWN.get((kind, name))


def environments(draw: Draw, pod: Object) -> Iterator[Any]:
    main = pod["spec"]["containers"][0]
    main["envFrom"] = [
        {**draw.one(({}, {"prefix": "P_"})), kind: {"name": draw.one(("settings", "keys")), **_optional(draw)}}
        for kind in draw.some(("configMapRef", "secretRef"), 0.5)
    ]
    plain = [("A", "1"), ("B", "$(A)$(A)"), ("C", "$$(A) $(none)"), ("A", "2"), ("D", ""), ("E", "$(COLOUR)$(")]
    main["env"] = [{"name": name, "value": value} for name, value in draw.some(plain)]
    if draw.chance(0.6):
        main["env"].append({"name": "REF", "valueFrom": _reference(draw)})
    services = [
        {"metadata": {"name": name}, "spec": {"clusterIP": address, "ports": draw.some(_PORTS, 0.6)}}
        for name, address in draw.some(
            (("my-db", "10.1.1.1"), ("six", "fd00::1"), ("head", "None"), ("kubernetes", "1.1.1.1"))
        )
    ]
    api = ApiAddress.of(draw.one(("https://127.0.0.1:7443", "https://[::1]", "https://api.example.com")))
    links = service_variables(pod, services, api)
    yield ["links", links]
    found = _tried(lambda: environment(pod, main, _sources, NODE, links if draw.chance(0.5) else None))
    yield ["environment", found, sorted(map(list, references(main)))]
    if isinstance(found, dict):
        yield ["command", command_of(main, found)]


_PORTS: tuple[Object, ...] = (
    {"name": "http-web", "port": 80, "protocol": "TCP"},
    {"port": 53, "protocol": "UDP"},
    {"name": "", "port": 9},
)


def volumes(draw: Draw, pod: Object) -> Iterator[Any]:
    items = {"items": [
        {"key": draw.one(("COLOUR", "token", "none")), "path": "in/here", **draw.one(({}, {"mode": 0o400}))},
        {"key": "USER", "path": "user"},
    ][: 1 + draw.below(2)]} if draw.chance(0.5) else {}  # fmt: skip
    mode = {"defaultMode": draw.one((0o600, 0o755))} if draw.chance(0.4) else {}
    told = [{"path": "told", **_reference(draw), **draw.one(({}, {"mode": 0o440}))}]
    told = [each for each in told if "fieldRef" in each or "resourceFieldRef" in each]
    map_source = {"configMap": {"name": draw.one(("settings", "settings", "gone")), **items, **_optional(draw)}}
    secret_source = {"secret": {"secretName": draw.one(("keys", "keys", "torn", "gone")), **items, **_optional(draw)}}
    inner = [{"configMap": {"name": "settings", **items, "optional": True}}, {"secret": {"name": "keys"}}]
    inner += [{"downwardAPI": {"items": told}}, {"serviceAccountToken": {"path": "token", "audience": "x"}}]
    inner += [{"clusterTrustBundle": {"path": "x"}}] if draw.chance(0.1) else []
    volume: Object = draw.one((
        {name: {**source, **mode} for name, source in map_source.items()},
        {name: {**source, **mode} for name, source in secret_source.items()},
        {"downwardAPI": {"items": told, **mode}},
        {"projected": {"sources": draw.some(inner), **mode}},
        {"emptyDir": {}}, {}, {"nfs": {"server": "x"}}, {"hostPath": {"path": "/x"}},
    ))  # fmt: skip
    volume = {"name": "v", **volume}
    tokens = token_projections(volume)
    yield [
        "volume",
        _tried(lambda: kind_of(volume)),
        is_content(volume),
        sorted(map(list, volume_references(volume))),
        len(tokens),
    ]
    if is_content(volume):
        texts = dict.fromkeys(tokens, "a.b.c")
        found = _tried(lambda: content_of(pod, volume, _sources, NODE, texts))
        told_files = (
            {name: [file.data.hex(), file.mode] for name, file in found.items()} if isinstance(found, dict) else found
        )
        yield ["files", told_files]


def rights(draw: Draw, pod: Object) -> Iterator[Any]:
    main, own = pod["spec"]["containers"][0], draw.one((0, 0, 1000, 7))
    yield ["users", _tried(lambda: list(users_of(pod, main, own))), fs_group(pod, own)]
    available = draw.one(
        (frozenset[str](), frozenset(("CHOWN", "KILL", "NET_ADMIN")), frozenset(("CHOWN", "SYS_TIME")))
    )
    sandboxed = draw.chance(0.6)

    def given() -> Any:
        found = rights_of(pod, main, available, sandboxed=sandboxed)
        return [sorted(found.capabilities), sorted(found.kept), found.note, mask(found.capabilities)]

    yield ["rights", _tried(given)]


def storage(draw: Draw) -> Iterator[Any]:
    limits: tuple[Object, ...] = (
        {},
        {"limits": {"ephemeral-storage": "1Ki"}},
        {"limits": {"ephemeral-storage": "2Ki"}},
        {"limits": {"ephemeral-storage": "0"}},
        {"limits": {"ephemeral-storage": "1"}},
    )
    names = ("main", "more")
    pod: Object = {"spec": {"containers": [{"name": name, "resources": draw.one(limits)} for name in names]}}
    disk: tuple[Object, ...] = (
        {},
        {"sizeLimit": "1Ki"},
        {"sizeLimit": "0"},
        {"sizeLimit": "1"},
        {"medium": "Memory"},
        {"sizeLimit": 1500},
    )
    pod["spec"]["volumes"] = (
        [{"name": name, "emptyDir": draw.one(disk)} for name in ("a", "b")] if draw.chance(0.8) else None
    )
    if draw.chance(0.3):
        pod["spec"]["initContainers"] = [{"name": "init", "resources": draw.one(limits)}]
    sizes = (0, 0, 2, 1023, 1024, 1025, 2049, 5000)
    usage = StorageUsage(
        {name: draw.one(sizes) for name in ("a", "b")}, {name: draw.one(sizes) for name in draw.some(names, 0.9)}
    )
    yield ["storage", limits_storage(pod), exceeded_limit(pod, usage)]


def mounts(draw: Draw) -> Iterator[Any]:
    lines = [
        f"{number} 1 {draw.one(('8:1', '8:2'))} {draw.one(('/', '/nowhere-home', '/a'))} {path} rw - {kind} x rw"
        for number, (path, kind) in enumerate(
            (("/", "ext4"), ("/nowhere-home", "ext4"), ("/nowhere-mnt/with\\040space", "xfs"))
        )
    ]
    found = mount_points("\n".join(draw.some(lines, 0.85)))
    yield ["mounts", [list(each) for each in found], aliases("/nowhere-home/me/data", found)]


def rows(count: int) -> Iterator[Any]:
    for number in range(count):
        draw = Draw(f"container {number}")
        pod = _pod(draw)
        for drawn in (environments, volumes, rights):
            yield from drawn(draw, pod)
        yield from storage(draw)
        yield from mounts(draw)
