"""Another host port, or none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.pointers import pointer
from mooring.placement.advise.search import Search
from mooring.placement.filters import PORT_TAKEN, taken_ports
from mooring.placement.labels import Mask
from mooring.placement.pods import HostPort

MAX_PORT = 65535

# How far from the wanted port another one is looked for, upwards.
MAX_PORTS_TRIED = 1000


def ports(search: Search) -> Iterator[Advice]:
    near = search.only(PORT_TAKEN)
    if not near.any():
        return
    own = {(port.protocol, port.port) for port in search.info.template.ports}
    for path, holder, body in _host_ports(search.spec):
        wanted = HostPort(body.get("hostIP") or "0.0.0.0", body.get("protocol") or "TCP", body["hostPort"])
        if not bool((taken_ports(search.cluster, (wanted,)) & near).any()):
            continue
        other = _free_port(search, wanted, own, near)
        if other is not None:
            yield from _change(search, path, holder, body, other)
        # With the host's network every container port is a host port.
        if not search.spec.get("hostNetwork"):
            advice = search.on_pod(
                AdviceKind.DROP,
                f"Drop hostPort {wanted.port} of {holder}",
                Edit("pod", "drop", pointer(*path, "hostPort"), wanted.port, None),
            )
            if advice is not None:
                yield advice


def _host_ports(spec: Object) -> Iterator[tuple[tuple[str | int, ...], str, Object]]:
    for field in ("initContainers", "containers"):
        for i, container in enumerate(spec.get(field) or ()):
            if field == "initContainers" and container.get("restartPolicy") != "Always":
                continue
            for j, body in enumerate(container.get("ports") or ()):
                if body.get("hostPort"):
                    yield ("spec", field, i, "ports", j), f"container {container.get('name', i)}", body


def _free_port(search: Search, wanted: HostPort, own: set[tuple[str, int]], near: Mask) -> int | None:
    others = tuple(p for p in search.info.template.ports if p != wanted)
    free = near & ~taken_ports(search.cluster, others)
    nodes = np.count_nonzero(free)
    for number in range(wanted.port + 1, min(wanted.port + MAX_PORTS_TRIED, MAX_PORT) + 1):
        if (wanted.protocol, number) in own:
            continue
        # Fewer users than nodes leave a node without looking at any of them.
        if len(search.cluster.ports.get((wanted.protocol, number), ())) < nodes:
            return number
        if bool((free & ~taken_ports(search.cluster, (wanted._replace(port=number),))).any()):
            return number
    return None


def _change(search: Search, path: tuple[str | int, ...], holder: str, body: Object, other: int) -> Iterator[Advice]:
    edits = [Edit("pod", "replace", pointer(*path, "hostPort"), body["hostPort"], other)]
    if search.spec.get("hostNetwork"):
        edits.append(Edit("pod", "replace", pointer(*path, "containerPort"), body.get("containerPort"), other))
    title = f"Change hostPort of {holder} from {body['hostPort']} to {other}"
    advice = search.on_pod(AdviceKind.PORT, title, *edits)
    if advice is not None:
        yield advice
