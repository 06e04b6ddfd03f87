"""How Helm is run: with the rights of who asked, in a folder of its own that goes with it, one run at a time.

Helm itself is played here by a script that writes down what it was given; tests/e2e/test_installations.py has the real
one.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from mooring.agents.helm.debug_output import DebugOutput
from mooring.agents.helm.executor import HelmExecutor
from mooring.agents.helm.private_folder import kubeconfig_for, private_folder
from mooring.api.kinds import Key
from mooring.client.access import Access
from mooring.client.transport import Page, Request
from mooring.features.installation.api.installation import HelmRelease, Requester
from mooring.features.installation.api.kinds import INSTALLATION
from mooring.features.installation.effects import (
    HELM_MISSING_EXIT_CODE,
    INSTALL,
    OBSERVE,
    RECOVER,
    HelmCommand,
    HelmTask,
)
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.patches import merge_patch
from mooring.runtime.effects import Run

SECRET = "token-of-the-controllers"
ADA = Requester("ada", ("platform", "system:authenticated"))
ACCESS = Access("https://10.0.0.1", cluster={"server": "https://10.0.0.1"}, user={"token": SECRET, "as": "somebody"})
RELEASE = HelmRelease("web", "shop")
HISTORY = [{"revision": 3, "status": "deployed", "chart": "web-1.2.3", "updated": "2026-01-01T00:00:00Z"}]
# Beside what it was given it writes down how it found its files. `history` answers as Helm does.
# Of this process alone: what a killed run of an object left behind is ended, and tests run side by side.
UID = f"u-{os.getpid()}"
SCRIPT = """#!/bin/sh
if [ "$1" = history ]; then echo '{history}'; exit 0; fi
{{
  echo "argv $*"
  env | grep -E '^(HELM_|KUBECONFIG)' | sort
  stat -c '%a %n' "$KUBECONFIG" "$(dirname "$KUBECONFIG")"
  cat "$KUBECONFIG"; echo
  last=$5
  [ -f "$last" ] && stat -c '%a values' "$last" && cat "$last"
}} > '{seen}'
{body}
"""


class OneObject:
    """An API server with one Installation."""

    def __init__(self, run_id: str) -> None:
        steps = [{"name": "install-web", "state": "Running", "run": run_id}, {"name": "later", "state": "Waiting"}]
        record = {"id": run_id, "phase": "Started"}
        self.object: Object = {
            "metadata": {"name": "kaito", "uid": UID, "resourceVersion": "1"},
            "status": {
                "steps": steps,
                "effects": {f"helm-{each}": record for each in ("install", "observe", "recover")},
            },
        }
        self.writes: list[Request] = []

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        return self.object

    async def write(self, request: Request) -> Object:
        self.writes.append(request)
        self.object = merge_patch(self.object, request.body)
        return self.object

    async def close(self) -> None:
        """Nothing."""

    def list(self, *arguments: Any) -> AsyncGenerator[Page]:
        raise NotImplementedError

    def watch(self, *arguments: Any) -> Any:
        raise NotImplementedError


class PlayedHelm:
    """A program in the place of Helm, and what it saw."""

    def __init__(self, folder: Path, body: str = "echo installed") -> None:
        self.program = folder / "helm"
        self._seen = folder / "seen"
        self.program.write_text(SCRIPT.format(history=json.dumps(HISTORY), seen=self._seen, body=body))
        self.program.chmod(0o755)

    @property
    def seen(self) -> str:
        return self._seen.read_text()


def task(program: Path | str, **fields: Any) -> HelmTask:
    commands = (HelmCommand(("upgrade", "web"), {"password": "hunter2"}),)
    return HelmTask("install-web", str(program), ADA, 5, commands, (RELEASE,), **fields)


def run_of(arguments: HelmTask, effect: Any = INSTALL, number: int = 1) -> Run:
    return Run(effect, INSTALLATION, Key("", "kaito"), f"1-install-web-{number}", arguments, UID)


async def carried_out(api: OneObject, *runs: Run, cancel_after: float | None = None) -> None:
    executor = HelmExecutor(api, ACCESS, termination=0.5)
    for run in runs:
        executor.start(run)
    if cancel_after is not None:
        await asyncio.sleep(cancel_after)
        for run in runs:
            executor.cancel(run)
    await asyncio.gather(*executor._runs.values())


def outcome(api: OneObject, effect: str = "helm-install") -> Object:
    found: Object = api.object["status"]["effects"][effect]
    return found


def test_helm_gets_private_files_and_the_rights_of_who_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM_KUBETOKEN", "of-the-shell")
    monkeypatch.setenv("HELM_DRIVER", "memory")
    helm = PlayedHelm(tmp_path)
    run = run_of(task(helm.program))
    api = OneObject(run.id)
    asyncio.run(carried_out(api, run))
    lines = helm.seen.splitlines()
    folder = Path(next(line for line in lines if line.startswith("KUBECONFIG=")).partition("=")[2]).parent
    assert lines[0] == f"argv upgrade web --debug -f {folder / 'values.yaml'}"
    assert [line.partition("=")[0] for line in lines if line.startswith("HELM_")] == [
        "HELM_CACHE_HOME",
        "HELM_CONFIG_HOME",
        "HELM_DATA_HOME",
    ]
    assert f"600 {folder / 'kubeconfig'}" in lines
    assert f"700 {folder}" in lines
    assert lines[-2:] == ["600 values", '{"password": "hunter2"}']
    (config,) = (json.loads(line) for line in lines if line.startswith('{"apiVersion"'))
    assert config["users"][0]["user"] == {"token": SECRET, "as": "ada", "as-groups": list(ADA.groups)}
    assert not folder.exists()
    assert outcome(api)["phase"] == "Succeeded"
    (release,) = api.object["status"]["releases"]
    assert (release["chart"], release["version"], release["revision"], release["goodRevision"]) == (
        "web",
        "1.2.3",
        3,
        3,
    )


def test_no_secret_is_on_a_command_line_or_in_the_status(tmp_path: Path) -> None:
    helm = PlayedHelm(tmp_path, 'tr "\\0" " " < /proc/$$/cmdline >&2; cat "$5"')
    run = run_of(task(helm.program))
    api = OneObject(run.id)
    asyncio.run(carried_out(api, run))
    assert "upgrade web" in outcome(api)["output"]
    assert "hunter2" not in json.dumps(api.object)
    assert SECRET not in json.dumps(api.object)


def test_files_are_found_from_the_folder_of_helm_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By default the cluster of `mooring up` is in a folder that is named from where it was started."""
    monkeypatch.chdir(tmp_path)
    cluster = {"server": "https://10.0.0.1", "certificate-authority": ".mooring/tls/ca.crt"}
    made = json.loads(kubeconfig_for(Access("https://10.0.0.1", cluster=cluster, user={"token": SECRET}), ADA))
    assert made["clusters"][0]["cluster"] == {**cluster, "certificate-authority": str(tmp_path / ".mooring/tls/ca.crt")}
    assert made["users"][0]["user"]["token"] == SECRET


def test_what_helm_tells_of_its_work_is_kept_without_its_source_and_calls() -> None:
    output = DebugOutput()
    output.add(
        b'install.go:225: 2026-11-16 12:34:20.9 +0000 UTC m=+0.04 [debug] Original chart version: ""\n\n'
        b"ready.go:303: [debug] Deployment is not ready: b/b. 0 out of 1 expected pods are ready\n"
        b"Error: context deadline exceeded\n"
        b"helm.go:92: 2026-11-16 12:34:24.1 +0000 UTC m=+3.1 [debug] context deadline exceeded\n"
        b"main.newUpgradeCmd.func2\n\t/src/cmd/helm/upgrade.go:226\n"
    )
    assert output.text == (
        'Original chart version: ""\n'
        "Deployment is not ready: b/b. 0 out of 1 expected pods are ready\n"
        "Error: context deadline exceeded\n"
    )


def test_what_helm_4_tells_is_told_in_the_same_words_and_once() -> None:
    awaited = b'level=DEBUG msg="waiting for resource" namespace=b name=web kind=Deployment expectedStatus='
    output = DebugOutput()
    output.add(
        b"level=DEBUG msg=fetching url=http://charts.example/index.yaml\n"
        b'level=DEBUG msg="Created resource via patch" namespace="" name=b gvk="/v1, Kind=Namespace"\n'
        + 3 * (awaited + b"Current actualStatus=InProgress\n")
        + awaited
        + b"NotFound actualStatus=Terminating\n"
        b"Error: resource Deployment/b/web not ready. status: InProgress, message: Available: 0/1\n"
        b"context deadline exceeded\n"
    )
    assert output.text.splitlines() == [
        "fetching url=http://charts.example/index.yaml",
        'Created resource via patch namespace="" name=b gvk="/v1, Kind=Namespace"',
        "Deployment is not ready: b/web. InProgress",
        "waiting for resource namespace=b name=web kind=Deployment expectedStatus=NotFound actualStatus=Terminating",
        "Error: resource Deployment/b/web not ready. status: InProgress, message: Available: 0/1",
        "context deadline exceeded",
    ]


def test_without_helm_the_exit_code_is_that_of_shells() -> None:
    run = run_of(task("no-such-helm"))
    api = OneObject(run.id)
    asyncio.run(carried_out(api, run))
    assert (outcome(api)["phase"], outcome(api)["exitCode"]) == ("Failed", HELM_MISSING_EXIT_CODE)
    assert "there is no program no-such-helm" in outcome(api)["message"]


def test_output_is_shown_while_it_grows_and_at_most_once_a_second(tmp_path: Path) -> None:
    helm = PlayedHelm(tmp_path, "for i in $(seq 1 25); do echo line $i >&2; sleep 0.1; done")
    run = run_of(task(helm.program))
    api = OneObject(run.id)
    asyncio.run(carried_out(api, run))
    shown = [each.body["status"]["steps"] for each in api.writes if "steps" in each.body["status"]]
    assert 1 <= len(shown) <= 3
    assert shown[0][0]["output"].startswith("line 1\n")
    assert "line 25" not in shown[0][0]["output"]
    assert shown[0][1] == {"name": "later", "state": "Waiting"}
    assert outcome(api)["output"].endswith("line 25\n")


def test_a_cancelled_run_ends_and_its_releases_are_looked_at(tmp_path: Path) -> None:
    helm = PlayedHelm(tmp_path, "trap 'echo asked to end >&2; exit 1' TERM; sleep 60 & wait")
    run = run_of(task(helm.program))
    api = OneObject(run.id)
    asyncio.run(carried_out(api, run, cancel_after=0.5))
    assert outcome(api)["phase"] == "Cancelled"
    assert "asked to end" in outcome(api)["output"]
    assert api.object["status"]["releases"][0]["status"] == "deployed"


def test_a_recovery_goes_no_further_than_the_first_release_that_fails(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    helm = PlayedHelm(tmp_path, f"echo $2 >> {tried}; [ $2 != broken ] || {{ echo no revision of $2 >&2; exit 3; }}")
    commands = tuple(HelmCommand(("rollback", name)) for name in ("web", "broken", "last"))
    run = run_of(HelmTask("recover", str(helm.program), ADA, 5, commands), RECOVER)
    api = OneObject(run.id)
    asyncio.run(carried_out(api, run))
    assert tried.read_text().split() == ["web", "broken"]
    told = outcome(api, "helm-recover")
    assert (told["phase"], told["exitCode"], told["output"]) == ("Failed", 3, "no revision of broken\n")


def test_no_two_runs_of_an_installation_are_under_way_at_once(tmp_path: Path) -> None:
    busy, twice = tmp_path / "busy", tmp_path / "twice"
    helm = PlayedHelm(tmp_path, f"mkdir {busy} || touch {twice}; sleep 0.3; rmdir {busy}")
    runs = [run_of(task(helm.program), number=number) for number in (1, 2, 3)]
    api = OneObject(runs[0].id)
    asyncio.run(carried_out(api, *runs))
    assert helm.seen
    assert not twice.exists()


def test_what_a_killed_process_left_is_ended_before_the_next_run(tmp_path: Path) -> None:
    async def story() -> int:
        environment = {**os.environ, "MOORING_INSTALLATION": UID}
        left = await asyncio.create_subprocess_exec("sleep", "60", env=environment)
        run = run_of(task(PlayedHelm(tmp_path).program))
        await carried_out(OneObject(run.id), run)
        return await left.wait()

    assert asyncio.run(story()) == -9


def test_a_history_that_cannot_be_read_fails_a_look(tmp_path: Path) -> None:
    helm = PlayedHelm(tmp_path)
    helm.program.write_text("#!/bin/sh\necho 'Error: secrets is forbidden: User \"ada\" cannot list' >&2\nexit 1\n")
    run = run_of(task(helm.program), OBSERVE)
    api = OneObject(run.id)
    asyncio.run(
        carried_out(api, run._replace(arguments=HelmTask("observe", str(helm.program), ADA, 5, (), (RELEASE,))))
    )
    assert outcome(api, "helm-observe")["phase"] == "Failed"
    assert "is forbidden" in outcome(api, "helm-observe")["output"]


def test_a_folder_that_others_can_read_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    above = tmp_path / f"mooring-helm-{os.getuid()}"
    above.mkdir()
    above.chmod(0o755)
    with pytest.raises(MooringError, match="can be read by others"), private_folder("x"):
        pass
    above.chmod(0o700)
    with private_folder("x") as folder:
        (folder / "left").write_text("behind")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # What a killed process left is gone before the run begins again.
    folder.mkdir()
    (folder / "left").write_text("behind")
    with private_folder("x") as again:
        assert again == folder
        assert list(again.iterdir()) == []
