"""Many notebook jobs, four at a time, with the controllers killed in between: each runs once, and none is lost."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from mooring.kube.quantities import milli_value
from mooring.nodes.process.machine_info import machine_info
from tests.cli.embedded import eventually, gone
from tests.e2e.notebooks import CORE, FINAL, NODE, NotebookSite, job, notebook, notebook_site, source
from tests.e2e.notebooks import JOBS as PATH
from tests.nodes.process.home import needs_sandbox
from tests.support.git_servers import GitRepository, git_daemon

pytestmark = [pytest.mark.slow, needs_sandbox]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
JOBS = 100
AT_A_TIME = 4
# After how many jobs the controllers are killed.
KILLS = (5, 30, 55, 80)
PATIENCE_SECONDS = 400.0


def phases(site: NotebookSite) -> Counter[str]:
    """As `kubectl get` shows them; a hundred whole jobs every second would keep this test busier than the cluster."""
    rows = site.api.get(PATH, accept=TABLE, includeObject="None").body["rows"]
    return Counter(row["cells"][1] for row in rows)


def running(site: NotebookSite) -> int:
    chosen = f"spec.nodeName={machine_info().name},status.phase!=Succeeded,status.phase!=Failed"
    return len(site.api.get(f"{CORE}/pods", fieldSelector=chosen).body["items"])


def test_a_hundred_jobs_are_run_once_each_though_the_controllers_are_killed(tmp_path: Path) -> None:
    root = tmp_path / "repositories"
    GitRepository(root, "models.git").commit({"tiny.ipynb": notebook("pass")})
    with git_daemon(root, tmp_path / "daemon.log") as url, notebook_site(tmp_path, "--ephemeral") as site:
        share = milli_value(site.api.get(NODE).body["status"]["allocatable"]["cpu"]) // AT_A_TIME
        tiny = source(f"{url}/models.git", "tiny.ipynb")
        pod = {"resources": {"requests": {"cpu": f"{share}m"}}}
        site.apply(*(job(f"job-{number}", tiny, pod=pod) for number in range(JOBS)))
        kills, most, began = list(KILLS), 0, time.monotonic()
        while (ended := sum(phases(site)[phase] for phase in FINAL)) < JOBS:
            assert time.monotonic() < began + PATIENCE_SECONDS, phases(site)
            most = max(most, running(site))
            if kills and ended >= kills[0]:
                kills.pop(0)
                victim = site.running.child("controllers")
                os.kill(victim, signal.SIGKILL)
                eventually(lambda victim=victim: gone(victim), "it is gone")  # type: ignore[misc]
            time.sleep(1)
        assert not kills
        assert phases(site) == {"Succeeded": JOBS}
        assert 1 < most <= AT_A_TIME
        pods = Counter(
            each["metadata"]["labels"]["notebookvalidationjob"] for each in site.api.get(f"{CORE}/pods").body["items"]
        )
        assert pods == {f"job-{number}": 1 for number in range(JOBS)}
        assert not [each for each in site.jobs() if each["status"].get("retryCount")]
