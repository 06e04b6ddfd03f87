"""`make bench`: every budget, measured now, with the real programs of Kubernetes beside ours where they run.

`python -m bench server cluster` measures only these sections.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from bench import (
    autoscaler,
    cluster,
    crowd,
    deployments,
    fanout,
    groups,
    hosts,
    installations,
    live,
    measured_clusters,
    node,
    notebook_jobs,
    notebooks,
    page,
    peer,
    placement,
    rest,
    runtime,
    server,
    snapshots,
    webhooks,
    workspaces,
)
from bench.rows import Row, progress, table

ROOT = Path(__file__).parents[1]
OUT = ROOT / "bench" / "out"
SIZES = (1_000, 5_000, 15_000)
TRIES = 3


# The engine and the commands


def command_rows(quick: bool) -> list[Row]:
    mooring = [sys.executable, "-m", "mooring"]
    example = ["explain", "-f", "examples/llama-70b.yaml", "--snapshot", "examples/fleet.yaml"]
    deploy = ["deploy", "phi-4", "--dry-run", "--snapshot", "examples/fleet.yaml"]
    return [
        Row("mooring --help", quickest(lambda: run([*mooring, "--help"])), "ms", 150),
        Row("first answer of explain", quickest(lambda: run([*mooring, *example])), "ms", 300),
        Row("first answer of deploy --dry-run", quickest(lambda: run([*mooring, *deploy])), "ms", 400),
    ]


def placing_rows(quick: bool) -> list[Row]:
    binary = None if quick else peer.build()
    rows = []
    beside: dict[tuple[str, int], float] = {}
    for load in placement.LOADS:
        for nodes in (5_000,) if quick else SIZES:
            budget = placement.budget_of(load, nodes)
            # Machines have neighbours; the best of a few tries is what the code can do, for both.
            tries = TRIES if budget else 1
            speed = max(placement.pods_per_second(load, nodes) for _ in range(tries))
            if binary is not None and load.peer and (load.peer, nodes) not in beside:
                beside[load.peer, nodes] = max(peer.pods_per_second(binary, load.peer, nodes) for _ in range(tries))
            found = beside.get((load.peer, nodes))
            rows.append(Row(f"{load.name}, {nodes:,} nodes", speed, "pods/s", budget, at_least=True, peer=found))
            progress(rows[-1])
    return rows


def snapshot_rows(quick: bool) -> list[Row]:
    rows = []
    size = f"{snapshots.NODES:,} nodes, {snapshots.PODS:,} pods"
    for form in ("yaml", "json"):
        found = snapshots.measured(snapshots.prepare(OUT, form))
        rows.append(Row(f"load {form}, {size}", found["load"] * 1000, "ms", 5_000))
        rows.append(Row(f"memory after {form}", found["peak"], "MiB", 600))
        if form == "yaml":
            rows.append(Row(f"explain one pod, {size}", found["explain"] * 1000, "ms", 100))
            rows.append(Row("advice of one change for it", found["advise"] * 1000, "ms", 500))
            rows.append(Row("advice of several together", found["together"] * 1000, "ms", 3_000))
    return rows


# The runtime


def runtime_rows(quick: bool) -> list[Row]:
    tries = 1 if quick else TRIES
    events = max((runtime.measured("events") for _ in range(tries)), key=lambda found: found["speed"])
    pods = runtime.measured("pods")
    start = runtime.measured("start", str(snapshots.prepare(OUT, "yaml")))
    plans = []
    for policy in ("Parallel", "OrderedReady"):
        found = min((runtime.measured("plan", policy) for _ in range(tries)), key=lambda found: found["seconds"])
        size = f"{runtime.PLANNED:,} pods of a StatefulSet, {policy}, on {runtime.PLANNED:,} nodes"
        plans.append(Row(f"plan {size}", found["seconds"] * 1000, "ms", 12_000))
        plans.append(Row("memory of that plan", found["peak"], "MiB", 600))
    found = min((runtime.measured("groups") for _ in range(tries)), key=lambda found: found["seconds"])
    size = f"{runtime.GROUPS:,} groups of {runtime.GROUP_SIZE} on {runtime.PLANNED:,} nodes"
    plans.append(Row(f"plan {size}", found["seconds"] * 1000, "ms", 12_000))
    plans.append(Row("memory of that plan", found["peak"], "MiB", 600))
    return [
        Row(f"events to reconciles, {runtime.KEYS:,} keys", events["speed"], "events/s", 20_000, at_least=True),
        Row(f"{runtime.PODS_IN_VIEW:,} pods in view", pods["peak"], "MiB", 500),
        *plans,
        Row(
            f"ready to plan, {snapshots.NODES:,} nodes, {snapshots.PODS:,} pods", start["seconds"] * 1000, "ms", 15_000
        ),
        Row("memory of that", start["peak"], "MiB", 1_500),
    ]


def live_rows(quick: bool) -> list[Row]:
    loaded, streamed = (live.measured(what, OUT) for what in ("load", "events"))
    size = f"{snapshots.NODES:,} nodes, {snapshots.PODS:,} pods"
    return [
        Row(f"taken in over HTTP, {size}", loaded["seconds"] * 1000, "ms", 5_000),
        Row("memory of that", loaded["peak"], "MiB", 600),
        Row("events to reconciles over HTTP", streamed["speed"], "events/s", 10_000, at_least=True),
    ]


def webhook_rows(quick: bool) -> list[Row]:
    plain, direct, served = (webhooks.measured(how) for how in ("none", "direct", "https"))
    load = f"{webhooks.CLIENTS} clients creating pods"
    return [
        Row(f"our webhook, called directly, p50, {load}", direct["webhook p50"], "ms", 10),
        Row("the same, p99", direct["webhook p99"], "ms", 10),
        Row(f"our webhook over HTTPS, p50, {load}", served["webhook p50"], "ms"),
        Row("the same, p99", served["webhook p99"], "ms"),
        Row("pods without a webhook", plain["speed"], "pods/s"),
        Row("pods with ours, directly", direct["speed"], "pods/s"),
        Row("pods with ours over HTTPS", served["speed"], "pods/s"),
    ]


# The embedded cluster beside a real one


def server_rows(quick: bool) -> list[Row]:
    ours = server.measured("embedded", lists=not quick)
    real = server.measured("real", lists=not quick) if _has_peer(quick) else None
    rows = []
    started = server.start_up()
    rows.append(Row("mooring up answers, in an empty folder", started["first"], "ms", 1_000))
    rows.append(Row("mooring up answers, later", started["later"], "ms", 1_000))
    budgets = {("busy", "create", "p50"): 2.0, ("busy", "get", "p50"): 1.0}
    for state in ("idle", "busy"):
        for what, found in ours[state].items():
            for share in ("p50", "p99"):
                beside = None if real is None else getattr(real[state][what], share)
                name = f"{what}, {share}, controllers {state}"
                budget = budgets.get((state, what, share))
                rows.append(Row(name, getattr(found, share), "ms", budget, peer=beside))
    fans = f"{fanout.WATCHERS} watchers x {fanout.PER_SECOND} events/s"
    units = {"lost": "events", "p50": "ms", "p99": "ms"}
    for what, unit in units.items():
        beside = None if real is None else real["fan-out"][what]
        told = f"{fans}, lost" if what == "lost" else f"{fans}, {what} until heard"
        rows.append(Row(told, ours["fan-out"][what], unit, 0 if what == "lost" else None, peer=beside))
    return rows


def cluster_rows(quick: bool) -> list[Row]:
    nodes, pods = (cluster.NODES // 5, cluster.PODS // 5) if quick else (cluster.NODES, cluster.PODS)
    ours = cluster.measured("embedded", nodes, pods)
    real = cluster.measured("real", nodes, pods) if _has_peer(quick) else {}
    what = f"pods from creation to Running, {pods:,} on {nodes} nodes"
    # Every pod takes a second to start, which a small crowd cannot make up for.
    budget = None if quick else 400
    rows = [Row(what, ours["speed"], "pods/s", budget, at_least=True, peer=real.get("speed"))]
    rows.append(Row("CPU for one of them, all processes", ours["cpu"], "ms", peer=real.get("cpu")))
    for name, limit in (("create p50", 2.0), ("create p99", None), ("get p50", 1.0), ("get p99", None)):
        told = f"{name} while {cluster.PER_SECOND} of them are made per second"
        rows.append(Row(told, ours[name], "ms", limit, peer=real.get(name)))
    return rows


def group_rows(quick: bool) -> list[Row]:
    count = groups.GROUPS // 10 if quick else groups.GROUPS
    found = groups.measured(count)
    what = f"{count} groups of {groups.SIZE} from apply to Running"
    return [
        Row(what, found["seconds"] * 1000, "ms"),
        Row("calls to the API for one of them", found["calls"], "calls"),
        Row("CPU for one of them, all processes", found["cpu"], "ms"),
    ]


def host_rows(quick: bool) -> list[Row]:
    # Half of them are claimed, as many by each pool.
    count = 10 * hosts.POOLS if quick else hosts.HOSTS
    found = hosts.measured(count, count // 2)
    what = f"{count // 2} of {count:,} hosts in {hosts.POOLS} pools, from apply to Ready"
    return [
        Row(what, found["seconds"] * 1000, "ms"),
        Row("calls to the API for one of them", found["calls"], "calls"),
        Row("CPU for one of them, all processes", found["cpu"], "ms"),
        Row("hosts or machines that were claimed twice", found["double claims"], "claims", 0),
    ]


def workspace_rows(quick: bool) -> list[Row]:
    count = workspaces.WORKSPACES // 10 if quick else workspaces.WORKSPACES
    found = workspaces.measured(count)
    nodes = count * workspaces.NODES_EACH
    return [
        Row(f"{count} Workspaces on {nodes:,} nodes until all have StatefulSets", found["seconds"] * 1000, "ms"),
        Row("calls to the API for one of them", found["calls"], "calls", 20),
        Row("CPU for one of them, all processes", found["cpu"], "ms"),
        Row("one node lost to the condition of its Workspace, p50", found["lost"], "ms", 1000),
    ]


def deployment_rows(quick: bool) -> list[Row]:
    nodes = deployments.NODES // 10 if quick else deployments.NODES
    found = deployments.measured(nodes)
    return [
        Row(
            f"where a deployment would land, {nodes:,} nodes with a reason each, CPU", found["lands"] * 1000, "ms", 500
        ),
        Row("the same for one that cannot, with advice, CPU", found["cannot"] * 1000, "ms", 1_000),
        Row(f"free GPUs of {nodes:,} nodes by pool and kind, CPU", found["capacity"] * 1000, "ms", 100),
    ]


def rest_rows(quick: bool) -> list[Row]:
    nodes, pods = (100, 1_000) if quick else (rest.NODES, rest.PODS)
    found = rest.measured(nodes, pods, 2.0 if quick else 5.0)
    size = f"{nodes:,} nodes and {pods:,} pods"
    clients = f"{rest.CLIENTS} clients, {rest.PER_SECOND} changes/s"
    return [
        Row(f"GET /api/nodes, {size}, the first", found["nodes first"], "ms", 5_000),
        Row("the same, later, p50", found["nodes p50"], "ms", 25),
        Row("the same, later, p99", found["nodes p99"], "ms", 100),
        Row("GET /api/workloads, p50", found["workloads p50"], "ms", 30),
        Row("memory of the REST server and the API server beside it", found["MiB"], "MiB", 500),
        Row(f"stream, {clients}: lost", found["lost"], "changes", 0),
        Row("the same, heard after, p50", found["late p50"], "ms", 150),
        Row("the same, heard after, p99", found["late p99"], "ms", 400),
        Row("the same, CPU of both servers", found["cpu"] * 100, "% of a core", 50),
    ]


def installation_rows(quick: bool) -> list[Row]:
    if why := installations.missing():
        print(f"without installations: {why}", file=sys.stderr)
        return []
    found = installations.measured(2 if quick else installations.INSTALLATIONS)
    return [
        Row("an installation, controllers beside Helm, CPU", found.own * 1000, "ms", 200, peer=found.plain * 1000),
        Row("the Helms of an installation, CPU", found.helm * 1000, "ms", peer=found.plain * 1000),
    ]


def node_rows(quick: bool) -> list[Row]:
    if why := node.missing():
        print(f"without the process node: {why}", file=sys.stderr)
        return []
    found = node.measured()
    return [
        Row("one pod on the process node, from creation to Running, p50", found["alone"], "ms"),
        Row(f"{node.TOGETHER} of them together", found["together"], "pods/s"),
        Row("CPU for one of them, all processes of ours", found["cpu"], "ms"),
    ]


def notebook_rows(quick: bool) -> list[Row]:
    found = notebooks.measured()
    rows = [
        Row(f"{told}, beside nbclient alone", found[f"runner {what}"], "ms", peer=found[f"nbclient {what}"])
        for told, what in (
            ("a notebook of one cell from start to exit", "wall"),
            ("CPU of that, kernel included", "cpu"),
            ("one cell more", "wall of a cell"),
            ("CPU of that", "cpu of a cell"),
        )
    ]
    if why := node.missing():
        print(f"without notebook jobs: {why}", file=sys.stderr)
        return rows
    jobs = notebook_jobs.measured()
    told = "a job with that notebook, from apply to Succeeded, beside nbclient alone"
    return [
        *rows,
        Row(told, jobs["alone"], "ms", peer=found["nbclient wall"]),
        Row(f"{notebook_jobs.TOGETHER} of them together", jobs["together"], "jobs/s"),
        Row("CPU for one of them, all processes of ours", jobs["cpu"], "ms"),
    ]


def stored_rows(quick: bool) -> list[Row]:
    count = server.STORED // 10 if quick else server.STORED
    ours = server.stored("embedded", count)
    real = server.stored("real", count) if _has_peer(quick) else {}
    return [
        Row(f"{count:,} pods made by four clients", ours["speed"], "pods/s", at_least=True, peer=real.get("speed")),
        Row("memory of the API server with them", ours["memory"], "MiB", peer=real.get("memory")),
        Row("the same after a restart", ours["restarted"], "MiB"),
        Row("until it answers with them", ours["start"], "ms"),
    ]


@cache
def _has_peer(quick: bool) -> bool:
    why = "" if quick else measured_clusters.missing()
    if why:
        print(f"without the real control plane: {why}", file=sys.stderr)
    return not quick and not why


SECTIONS: dict[str, Callable[[bool], list[Row]]] = {
    "commands": command_rows,
    "placing": placing_rows,
    "snapshots": snapshot_rows,
    "runtime": runtime_rows,
    "live": live_rows,
    "webhooks": webhook_rows,
    "server": server_rows,
    "crowd": crowd.rows,
    "cluster": cluster_rows,
    "groups": group_rows,
    "hosts": host_rows,
    "autoscaler": autoscaler.rows,
    "workspaces": workspace_rows,
    "deployments": deployment_rows,
    "rest": rest_rows,
    "page": page.rows,
    "installations": installation_rows,
    "node": node_rows,
    "notebooks": notebook_rows,
    "stored": stored_rows,
}
# Minutes of filling, for figures that rarely change: measured when it is named.
ON_REQUEST = ("stored",)


def run(command: list[str]) -> None:
    subprocess.run(command, cwd=ROOT, env=server.compiling(), capture_output=True, check=False)


def quickest(work: Callable[[], None], times: int = 9) -> float:
    """The best of several runs, in milliseconds, after one that fills caches."""
    work()
    found = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        found.append((time.perf_counter() - started) * 1000)
    return min(found)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Mooring against its budgets.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"only these: {', '.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true", help="smaller, and without the real programs beside ours")
    options = parser.parse_args()
    if unknown := [name for name in options.sections if name not in SECTIONS]:
        parser.error(f"there is no section {unknown[0]}; there are {', '.join(SECTIONS)}")
    os.chdir(ROOT)
    rows: list[Row] = []
    broken = []
    for name in options.sections or [name for name in SECTIONS if name not in ON_REQUEST]:
        started = time.monotonic()
        print(f"{name} ...", file=sys.stderr)
        try:
            rows += SECTIONS[name](options.quick)
        except (OSError, RuntimeError, ValueError, subprocess.CalledProcessError) as error:
            # What the others say is worth having all the same.
            broken.append(f"{name} broke off: {error}")
            print(f"  {broken[-1]}", file=sys.stderr)
        print(f"  {time.monotonic() - started:.0f} s", file=sys.stderr)
    print(table(rows))
    over = [row.what for row in rows if row.verdict not in ("", "ok")]
    if over:
        print(f"\nover budget: {'; '.join(over)}")
    for line in broken:
        print(line)
    return 1 if over or broken else 0


if __name__ == "__main__":
    sys.exit(main())
