"""A cluster for requests that lead to nodes and pods: kubelets of several addresses, and pods on them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.kube.objects import Object
from mooring.net.certificates import Certificates
from tests.apiserver.alone import Alone, Line, play
from tests.apiserver.test_logs import SECRET

NODES = "/api/v1/nodes"
NAMESPACED = "/api/v1/namespaces/default"
PODS = f"{NAMESPACED}/pods"
KUBELET = ("localhost", 10250)
SIMULATED = {"kwok.x-k8s.io/node": "fake"}

# By the name of a node: its addresses by type, the port of its kubelet, its annotations.
PLACES: dict[str, tuple[list[tuple[str, str]], int | None, dict[str, str]]] = {
    "here": ([("InternalIP", "192.0.2.1"), ("InternalDNS", "localhost")], 10250, {}),
    "far": ([("ExternalIP", "198.51.100.7"), ("Hostname", "far"), ("InternalIP", "10.0.0.7")], 10250, {}),
    "named": ([("ExternalIP", "198.51.100.8"), ("ExternalDNS", "x.example.com"), ("Hostname", "named")], 4194, {}),
    "known": ([("ExternalIP", "198.51.100.9"), ("ExternalDNS", "known.example.com")], 10250, {}),
    "outside": ([("ExternalIP", "198.51.100.10")], 10250, {}),
    "six": ([("InternalIP", "2001:db8::6")], 10250, {}),
    "loop": ([("InternalIP", "127.0.0.1")], 10250, {}),
    "loop6": ([("InternalIP", "::1")], 10250, {}),
    "silent": ([("InternalIP", "10.0.0.9")], None, {}),
    "nowhere": ([], 10250, {}),
    "fake": ([("InternalIP", "10.0.0.10")], 10250, SIMULATED),
    "nearly-fake": ([("InternalIP", "10.0.0.11")], 10250, {"kwok.x-k8s.io/node": "no"}),
}


def pod(name: str, node: str, *containers: str, **more: Any) -> Object:
    spec: Object = {"containers": [{"name": each, "image": "x"} for each in containers or ("main",)]}
    spec |= {"nodeName": node} if node else {}
    return {"metadata": {"name": name, **more.pop("metadata", {})}, "spec": spec | more}


async def furnish(server: Alone) -> None:
    for name, (addresses, port, noted) in PLACES.items():
        await server.make(NODES, {"metadata": {"name": name, "annotations": noted}})
        status: Object = {"addresses": [{"type": kind, "address": address} for kind, address in addresses]}
        if port is not None:
            status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": port}}
        await server.make(f"{NODES}/{name}/status", {"status": status}, "PATCH")
        await server.make(PODS, pod(f"on-{name}", name))
    await server.make(PODS, pod("two", "here", "a", "b", initContainers=[{"name": "first", "image": "x"}]))
    debugger = {"spec": {"ephemeralContainers": [{"name": "debugger", "image": "x"}]}}
    await server.make(f"{PODS}/two/ephemeralcontainers", debugger, "PATCH")
    await server.make(PODS, pod("waiting", ""))
    await server.make(PODS, pod("lost", "never-was"))
    server.at(*KUBELET, *answer(200, b"line\n"))


def answer(status: int, *parts: bytes, headers: str = "", every: float = 0.0) -> list[Line]:
    """An answer in chunks, each so many seconds after the one before."""
    head = f"HTTP/1.1 {status} Said\r\n{headers}Transfer-Encoding: chunked\r\n\r\n".encode()
    chunks = [b"%x\r\n%s\r\n" % (len(each), each) for each in parts]
    told: list[Line] = [(0.0, head)]
    told += [((number + 1) * every, each) for number, each in enumerate([*chunks, b"0\r\n\r\n"])]
    return told


def connections_for_logs(server: Alone) -> set[Any]:
    assert server.app._connectors is not None
    return server.app._connectors._logs._open


Tell = Callable[[Alone], Awaitable[None]]


def told(files: Certificates, stories: Iterable[tuple[str, Tell]]) -> dict[str, str]:
    """What happens in each story, one after another in the same cluster; the machine here answers anew in each."""

    async def all_of_them(server: Alone) -> dict[str, str]:
        await furnish(server)
        found: dict[str, str] = {}
        for name, tell in stories:
            server.at(*KUBELET, *answer(200, b"line\n"))
            server.notes.begin()
            await tell(server)
            found[name] = server.notes.taken()
        assert not connections_for_logs(server), "connections are kept after their end"
        counted = server.app._metrics_text().split("\n")
        found["what was counted"] = "\n".join(line for line in counted if line.startswith("apiserver_request_total"))
        return found

    result: dict[str, str] = play(all_of_them, nodes=NodeAccess(files, SECRET))
    return result
