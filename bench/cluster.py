"""A whole cluster at work: pods from their creation to Running, and what the API does for others meanwhile.

The writer of the pods, the watcher that sees them run and the reader in between are processes of their own, with the
lightest client. First the pods are created as fast as the server takes them; then at the rate of the budget, with
the reader: the latency of an overloaded server would say only how many requests are queued. The second part is
repeated a few times, and the best run counts, for both clusters, because other load on the machine disturbs it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.measured_clusters import MeasuredCluster, embedded, make_nodes, real, simulated_nodes, wait_for_nodes
from bench.wire import ApiEndpoint, Wire, quantile

NODES = 500
PODS = 1_000
# Pods per second while others ask.
PER_SECOND = 300
_MAKERS = 4
_POLL_SECONDS = 0.01
_FLOOD = "flood"
_FLOWS = ("flow-a", "flow-b", "flow-c")


def measured(home: str, nodes: int, pods: int) -> dict[str, float]:
    """Pods through one of the two clusters."""
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
        folder = Path(name) / home
        if home == "embedded":
            with embedded(folder, nodes) as running:
                return _flow(running, nodes, pods)
        with real(folder, whole=True) as running:
            make_nodes(running.endpoint, nodes)
            with simulated_nodes(running, folder / "kubeconfig", folder) as all_of_it:
                return _flow(all_of_it, nodes, pods)


def _flow(running: MeasuredCluster, nodes: int, pods: int) -> dict[str, float]:
    wire = Wire(running.endpoint)
    wait_for_nodes(wire, nodes)
    for space in (_FLOOD, *_FLOWS):
        wire.call("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
        if "kube-apiserver" in running.pids:
            _wait_for_account(wire, space)
    before = running.cpu()
    made, _ = _role("make", running.endpoint, _FLOOD, str(pods), "0").communicate()
    after = running.cpu()
    flows = [_paced(running.endpoint, space, pods) for space in _FLOWS]
    found: dict[str, float] = {**json.loads(made), **min(flows, key=lambda flow: flow["create p50"])}
    for process, seconds in after.items():
        found[f"cpu {process}"] = (seconds - before[process]) * 1000 / pods
    found["cpu"] = sum(after.values()) * 1000 / pods - sum(before.values()) * 1000 / pods
    return found


def _paced(endpoint: ApiEndpoint, space: str, pods: int) -> dict[str, float]:
    """How long others wait for an answer while pods are made at a pace."""
    prober = _role("probe", endpoint, stdin=subprocess.PIPE)
    _role("make", endpoint, space, str(pods), str(PER_SECOND)).communicate()
    asked, _ = prober.communicate("")
    found: dict[str, float] = json.loads(asked)
    return found


def _wait_for_account(wire: Wire, space: str) -> None:
    """A real server admits no pod before its namespace has an account."""
    deadline = time.monotonic() + 30
    while True:
        request = wire.request("GET", f"/api/v1/namespaces/{space}/serviceaccounts/default")
        if wire.ask(request)[0] == 200:
            return
        if time.monotonic() > deadline:
            raise RuntimeError("the namespace got no default service account in 30 s")
        time.sleep(0.1)


def _role(role: str, endpoint: ApiEndpoint, *arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.cluster", role, endpoint.text(), *arguments]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True)


# The writer and the watcher


def make(endpoint: ApiEndpoint, space: str, pods: int, pace: int) -> dict[str, float]:
    """`pace` is how many to make per second, 0 for as many as are taken."""
    wires = [Wire(endpoint) for _ in range(_MAKERS)]
    path = f"/api/v1/namespaces/{space}/pods"
    requests = [wires[0].request("POST", path, _pod(number)) for number in range(pods)]
    seen = _Seen(endpoint, space, pods)
    seen.ready.wait()
    started = time.perf_counter()
    moments = [started + (number / pace if pace else 0) for number in range(pods)]
    makers = [
        threading.Thread(target=_send, args=(wire, requests[i::_MAKERS], moments[i::_MAKERS]))
        for i, wire in enumerate(wires)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    made = time.perf_counter() - started
    seen.thread.join()
    if not seen.last:
        raise RuntimeError("not all pods were seen to run: the watch broke off")
    seconds = seen.last - started
    return {"speed": pods / seconds, "seconds": seconds, "made": made}


def _send(wire: Wire, requests: list[bytes], moments: list[float]) -> None:
    for request, moment in zip(requests, moments, strict=True):
        time.sleep(max(0.0, moment - time.perf_counter()))
        code, body = wire.ask(request)
        if code != 201:
            raise RuntimeError(f"a pod was refused with {code}: {body[:300]!r}")


class _Seen:
    """Follows the pods that run, until as many do as are wanted."""

    def __init__(self, endpoint: ApiEndpoint, space: str, wanted: int) -> None:
        self.ready = threading.Event()
        self.last = 0.0
        self._endpoint, self._space, self._wanted = endpoint, space, wanted
        self.thread = threading.Thread(target=self._follow)
        self.thread.start()

    def _follow(self) -> None:
        wire = Wire(self._endpoint)
        while not self.last:
            self._watch(wire)
        wire.close()

    def _watch(self, wire: Wire) -> None:
        """Watch until all pods are seen, or the server ends the watch, as a real one does with a slow reader."""
        path = f"/api/v1/namespaces/{self._space}/pods?fieldSelector=status.phase%3DRunning"
        listed = wire.call("GET", path)
        count, rest = len(listed["items"]), b""
        wire.send(wire.request("GET", f"{path}&watch=1&resourceVersion={listed['metadata']['resourceVersion']}"))
        self.ready.set()
        events = wire.stream()
        while count < self._wanted:
            part = next(events, None)
            if part is None:
                return
            lines = rest + part
            # An event's beginning may be cut in two.
            end = lines.rfind(b"\n") + 1
            count, rest = count + lines.count(b'{"type":"ADDED"', 0, end), lines[end:]
        self.last = time.perf_counter()


def _pod(number: int) -> bytes:
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    container = {"name": "main", "image": "registry.example/app:1", "resources": resources}
    metadata = {"name": f"pod-{number:05d}", "labels": {"app": f"app-{number % 20}"}}
    return json.dumps({"metadata": metadata, "spec": {"containers": [container]}}).encode()


# The reader


def _wait_for_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def probe(endpoint: ApiEndpoint) -> dict[str, float]:
    """Create and get a ConfigMap now and then, until standard input ends."""
    wire = Wire(endpoint)
    over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(over,), daemon=True).start()
    creates, gets, number, mark = [], [], 0, time.monotonic_ns()
    path = "/api/v1/namespaces/default/configmaps"
    while not over.wait(_POLL_SECONDS):
        name = f"probe-{mark}-{number}"
        number += 1
        body = json.dumps({"metadata": {"name": name}, "data": {"k": "v"}}).encode()
        creates.append(_timed(wire, wire.request("POST", path, body), 201))
        gets.append(_timed(wire, wire.request("GET", f"{path}/{name}"), 200))
    wire.close()
    return {
        "create p50": statistics.median(creates),
        "create p99": quantile(creates, 0.99),
        "get p50": statistics.median(gets),
        "get p99": quantile(gets, 0.99),
    }


def _timed(wire: Wire, request: bytes, wanted: int) -> float:
    started = time.perf_counter()
    code, body = wire.ask(request)
    took = (time.perf_counter() - started) * 1000
    if code != wanted:
        raise RuntimeError(f"answered {code}: {body[:300]!r}")
    return took


def main(arguments: list[str]) -> None:
    role, endpoint, *rest = arguments
    if role == "make":
        space, pods, pace = rest
        print(json.dumps(make(ApiEndpoint.of(endpoint), space, int(pods), int(pace))))
    elif role == "probe":
        print(json.dumps(probe(ApiEndpoint.of(endpoint))))
    else:
        found: dict[str, Any] = measured(role, int(endpoint), int(rest[0]))
        print(json.dumps({name: round(value, 2) for name, value in found.items()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
