"""Hosts, notebook jobs, installations, pools and events as people are shown them."""

from __future__ import annotations

from typing import Any

from mooring.catalog import CATALOG
from mooring.manifests.views import convert
from mooring.runway.feature_views.hosts import host_record
from mooring.runway.feature_views.installations import installation_record
from mooring.runway.feature_views.notebooks import notebook_detail, notebook_record
from mooring.runway.fleet.pools import autoscaler_answer, fleet_pools
from mooring.runway.workloads.events import cluster_event
from mooring.testing.hosts import byo_host
from mooring.testing.notebooks import notebook_job
from mooring.testing.scaled_pools import scaled_pool
from tests.runway.fleet.objects import raw


def test_a_host_tells_who_has_claimed_it_and_since_when_it_is_silent() -> None:
    silent = {"type": "HostHealthy", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {
        "phase": "Silent",
        "machineRef": {"kind": "ByoMachine", "name": "gpu-7", "namespace": "default"},
        "conditions": [silent],
        "network": [{"macAddr": "a", "ipAddrs": ["10.0.0.7/24"]}],
    }
    found = host_record(raw({**byo_host("box", gpu=4), "status": status}))
    assert (found.name, found.phase, found.claimed_by) == ("box", "Silent", "gpu-7")
    assert (found.capacity["nvidia.com/gpu"], found.addresses) == ("4", ("10.0.0.7/24",))
    assert found.silent_since == "2026-01-01T00:00:00Z"


def test_a_heartbeat_of_a_host_is_not_told() -> None:
    def at(time: str) -> Any:
        return host_record(raw({**byo_host("box"), "status": {"lastHeartbeatTime": time}}))

    assert at("2026-01-01T00:00:00Z") == at("2026-01-01T00:00:10Z")


def test_a_notebook_job_counts_its_cells() -> None:
    results = [
        {"cellIndex": 0, "status": "Success", "executionTime": "1.5s"},
        {"cellIndex": 1, "status": "Failure", "errorMessage": "division by zero"},
        {"cellIndex": 2, "status": "Skipped"},
    ]
    job = {**notebook_job("check"), "status": {"phase": "Failed", "message": "cell 1 failed", "results": results}}
    found = notebook_record(raw(job))
    assert (found.name, found.phase, found.message) == ("check", "Failed", "cell 1 failed")
    assert (found.cells.total, found.cells.succeeded, found.cells.failed, found.cells.skipped) == (3, 1, 1, 1)
    assert [each.error_message for each in notebook_detail(job).cells] == ["", "division by zero", ""]


def test_a_job_that_nobody_has_looked_at_waits() -> None:
    assert notebook_record(raw(notebook_job("new"))).phase == "Pending"


def test_an_installation_tells_its_steps_and_that_it_goes() -> None:
    chart = {"name": "kaito-workspace", "chart": "workspace", "version": "0.8.0", "namespace": "kaito"}
    obj: dict[str, Any] = {
        "metadata": {"name": "kaito"},
        "spec": {"repository": {"name": "kaito", "url": "https://example.com"}, "charts": [chart]},
        "status": {
            "phase": "Installing",
            "message": "kaito-workspace is being installed",
            "steps": [{"name": "install", "title": "Install", "state": "Running", "output": "waiting"}],
        },
    }
    found = installation_record(raw(obj))
    assert (found.name, found.phase, found.version) == ("kaito", "Installing", "0.8.0")
    assert [(each.state, each.output) for each in found.steps] == [("Running", "waiting")]
    obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert installation_record(raw(obj)).phase == "Uninstalling"


def test_pools_have_the_rows_and_the_story_of_mooring_pools() -> None:
    report = CATALOG.pool_report()
    views = {kind: view for (_, kind), view in report.views.items()}
    pool = convert(scaled_pool("gpu", most=4), views["MachineDeployment"])
    world: dict[str, list[Any]] = {kind: [] for kind in views}
    world["MachineDeployment"] = [pool]
    (found,) = fleet_pools(report, world, {}).values()
    (row,) = report.rows(world, {})
    assert (found.name, found.max, found.state) == (row.name, row.most, row.state)
    assert found.story


def test_what_the_autoscaler_decided_has_its_time() -> None:
    log = "2026-01-01T00:00:00Z Best option to resize: gpu\nno time here\n"
    found = autoscaler_answer(CATALOG.pool_report(), {"log": log})
    assert [(each.time, each.text) for each in found.decisions] == [
        ("2026-01-01T00:00:00Z", "Best option to resize: gpu"),
        (None, "no time here"),
    ]


def test_an_event_is_counted_and_dated_by_its_series() -> None:
    event = {
        "metadata": {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
        "reason": "FailedScheduling",
        "type": "Warning",
        "message": "0/3 nodes are available",
        "eventTime": "2026-01-01T00:00:01Z",
        "series": {"count": 7, "lastObservedTime": "2026-01-01T00:01:00Z"},
        "reportingComponent": "default-scheduler",
        "lastTimestamp": None,
        "source": None,
    }
    found = cluster_event(raw(event))
    assert (found.count, found.first_seen, found.last_seen) == (7, "2026-01-01T00:00:01Z", "2026-01-01T00:01:00Z")
    assert (found.object.name, found.source, found.type) == ("web", "default-scheduler", "Warning")
