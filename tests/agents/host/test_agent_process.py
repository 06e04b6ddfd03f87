"""The process of an agent: how it comes in, what its metrics say, what a reset does, and what a dry run tells."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mooring.agents.host import dry_run, process
from mooring.agents.host.agent import _soonest
from mooring.agents.host.detection.hardware import Hardware
from mooring.agents.host.dry_run import preview
from mooring.agents.host.host_client import HostClient
from mooring.agents.host.host_informer import HostInformer
from mooring.agents.host.identity.agent_identity import AgentIdentity
from mooring.agents.host.journal import AgentJournal, JournalError
from mooring.agents.host.process import AgentAccess, AgentHealth, reset_machine, services_of
from mooring.agents.host.progress import AgentProgress, ClaimRecord, MachineBaseline
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.supervisor import ServiceSupervisor
from mooring.agents.host.services.systemd import SystemdServices
from mooring.agents.host.settings import AgentSettings
from mooring.agents.host.steps import BeginStep, CleanStep, InstallStep, Step, WaitStep
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, NotFoundError
from tests.agents.host.test_host_work import CLAIM, MACHINE, Machine, with_script
from tests.agents.host.test_join import put

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def machine(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine(short_path, monkeypatch)
    monkeypatch.setattr(process, "clean_machine", found.clean_machine)
    return found


@pytest.mark.parametrize("journal", ["whole", "broken", "none"])
def test_a_machine_is_reset_whatever_its_journal_says(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr(process, "services_of", lambda settings: machine)
    with_script(machine)
    if journal == "whole":
        machine.journal.record(claim=CLAIM, baseline=MachineBaseline(("/kept",)), install_begun=True)
    elif journal == "broken":
        machine.root.journal.write_text("{")
    asyncio.run(reset_machine(machine.settings))
    run = [["run", "uninstall.sh", "echo", 1200.0, True]] if journal == "whole" else []
    before = MachineBaseline(("/kept",)) if journal == "whole" else MACHINE
    assert machine.did == ["stop", *run, ["clean", before]]
    assert not machine.root.journal.exists()


def test_a_folder_has_one_agent_at_a_time(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(short_path, monkeypatch)
    with process.only_agent(machine.settings), pytest.raises(InputError) as told:
        asyncio.run(reset_machine(machine.settings))
    assert str(told.value) == f"--root {machine.root.path}: another agent runs in this folder"
    assert machine.did == []
    with process.only_agent(machine.settings):
        assert machine.root.lock.stat().st_mode & 0o777 == 0o600


def test_services_are_run_by_systemd_or_by_the_agent(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = services_of(Machine(short_path, monkeypatch).settings)
    assert isinstance(own, ServiceSupervisor)
    units = services_of(Machine(short_path, monkeypatch, systemd=True).settings)
    assert isinstance(units, SystemdServices)
    assert units.unit("kubelet") == f"mooring-{RootFolder(short_path / 'r').short_mark}-kubelet.service"


def test_metrics_tell_the_last_heartbeat(short_path: Path) -> None:
    settings = AgentSettings("node10", "team", RootFolder(short_path), short_path)
    nobody: Any = None
    client = HostClient(settings, nobody, HostInformer(), lambda: NOON)
    health = AgentHealth(client, Hardware("linux", "Debian 12", "arm64", 4, 2048))
    assert list(health.missing) == ["no heartbeat was written yet"]
    assert list(health.silent) == []
    lines = health.metrics_text().splitlines()
    assert "byoh_agent_last_heartbeat_timestamp 0" in [line.removesuffix(".0") for line in lines]
    client.last_heartbeat = NOON
    assert list(health.missing) == []
    shown = [line.removesuffix(".0") for line in health.metrics_text().splitlines()]
    assert f"byoh_agent_last_heartbeat_timestamp {NOON.timestamp():.0f}" in shown
    assert any(line.startswith("byoh_agent_info{") and 'os="Debian 12",arch="arm64"' in line for line in shown)
    assert "# TYPE byoh_agent_last_heartbeat_timestamp gauge" in shown


KUBECONFIG = """{"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
"clusters": [{"name": "c", "cluster": {"server": "SERVER"}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}"""


def test_an_agent_comes_in_with_what_it_is_given_or_with_its_own(short_path: Path) -> None:
    settings = AgentSettings("node10", "team", RootFolder(short_path / "r"), short_path)
    settings.root.prepare()
    given = short_path / "given"
    given.write_text(KUBECONFIG.replace("SERVER", "http://given"))
    settings.root.kubeconfig.write_text(KUBECONFIG.replace("SERVER", "http://own"))

    class Identity(AgentIdentity):
        forever = False

        async def obtain(self, bootstrap: Path) -> Any:
            if self.forever:
                await asyncio.Event().wait()
            return ["obtained with", bootstrap]

    identity = Identity(settings.root, "node10", 60, lambda: NOON)

    def came(kubeconfig: Path | None, bootstrap: Path | None, *, stopped: bool = False) -> Any:
        async def come() -> Any:
            stop = asyncio.Event()
            if stopped:
                stop.set()
            return await process._access(settings, AgentAccess(kubeconfig, bootstrap, 60), identity, stop)

        return asyncio.run(come())

    assert came(given, None).server == "http://given"
    assert came(None, None).server == "http://own"
    assert came(None, given) == ["obtained with", given]
    identity.forever = True
    assert came(None, given, stopped=True) is None


def test_a_journal_that_cannot_be_read_says_what_to_do(short_path: Path) -> None:
    path = short_path / "journal.json"
    journal = AgentJournal(path)
    assert journal.record() == AgentProgress()
    assert not path.exists()
    journal.record(claim=CLAIM, joined=True)
    assert AgentJournal(path).progress == AgentProgress(CLAIM, joined=True)
    assert path.read_text().startswith("{\n")
    assert path.read_text().endswith("}\n")
    path.write_text("[]")
    with pytest.raises(JournalError, match=rf"^{path} cannot be read \(.*\); run mooring agent --reset, which cleans"):
        AgentJournal(path)
    assert journal.clear() == AgentProgress()
    assert journal.clear() == AgentProgress()
    assert not path.exists()


@pytest.mark.parametrize(
    ("until", "told", "pause"),
    [
        (None, True, None),
        (None, False, 5),
        (NOON + timedelta(seconds=60), True, 60),
        (NOON + timedelta(seconds=60), False, 5),
        (NOON + timedelta(seconds=2), False, 2),
        (NOON - timedelta(seconds=2), True, 0),
    ],
)
def test_an_agent_waits_until_a_step_is_due_and_looks_sooner_where_it_has_not_told_its_status(
    until: datetime | None, told: bool, pause: float | None
) -> None:
    assert _soonest(until, NOON, told) == pause


# A dry run


class Api:
    """What the API says of the host, in place of a transport."""

    def __init__(self, found: Object | Exception) -> None:
        self.found, self.asked = found, list[Any]()

    def __call__(self, access: Any) -> Api:
        self.asked.append(access.server)
        return self

    async def get(self, *which: str) -> Object:
        self.asked.append(which)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    async def close(self) -> None:
        self.asked.append("closed")


def found_host(*, claimed: bool) -> Object:
    reference = {"kind": "ByoMachine", "namespace": "team", "name": "w1", "uid": "c1"}
    status = {"machineRef": reference} if claimed else {}
    spec = {"joinMode": "tlsBootstrap", "bootstrapSecret": {"name": "b"}, "installationSecret": {"name": "i"}}
    return {"metadata": {"name": "node10", "namespace": "team"}, "spec": spec, "status": status}


PROGRESS = AgentProgress(CLAIM)


@pytest.mark.parametrize(
    ("answer", "progress", "where", "next_line"),
    [
        (NotFoundError("gone"), AgentProgress(), "{} on http://given would be created", None),
        (ForbiddenError("no rights"), AgentProgress(), "{} would be created or updated (no rights)", None),
        (found_host(claimed=False), AgentProgress(), "{} on http://given would be updated", "wait for a claim"),
        (
            found_host(claimed=True),
            AgentProgress(),
            "{} on http://given would be updated",
            "take the claim of team/w1 on record",
        ),
        (found_host(claimed=True), PROGRESS, "{} on http://given would be updated", "run the install script"),
        (
            found_host(claimed=True),
            AgentProgress(CLAIM, installed=True),
            "{} on http://given would be updated",
            "write the node's files, start containerd and kubelet, wait for the kubelet's certificate",
        ),
        (
            found_host(claimed=True),
            AgentProgress(CLAIM, installed=True, joined=True),
            "{} on http://given would be updated",
            "keep containerd and kubelet running",
        ),
        (
            NotFoundError("gone"),
            PROGRESS,
            "{} on http://given would be created",
            "clean this machine, because its ByoHost is gone",
        ),
    ],
)
def test_a_dry_run_tells_what_would_be_registered_and_done(
    short_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Object | Exception,
    progress: AgentProgress,
    where: str,
    next_line: str | None,
) -> None:
    settings = AgentSettings("node10", "team", RootFolder(short_path / "r"), short_path / "b", labels={"rack": "a"})
    settings.root.prepare()
    AgentJournal(settings.root.journal).record(**{name: getattr(progress, name) for name in progress.__struct_fields__})
    kubeconfig = short_path / "given"
    kubeconfig.write_text(KUBECONFIG.replace("SERVER", "http://given"))
    put(settings.download_path / "bin" / "kubelet", "echo Kubernetes v1.35.8")
    put(settings.download_path / "bin" / "runc", "exit 1")
    monkeypatch.setattr(dry_run, "search_path", lambda download: f"{download}/bin")

    async def hardware() -> Hardware:
        return Hardware("linux", "Debian 12", "arm64", 4, 2048)

    monkeypatch.setattr(dry_run, "find_hardware", hardware)
    monkeypatch.setattr(dry_run, "find_network", lambda names: [{"networkInterfaceName": "eth0"}])
    api = Api(answer)
    monkeypatch.setattr(dry_run, "HttpTransport", api)
    lines = asyncio.run(preview(settings, kubeconfig))
    programs = settings.download_path / "bin"
    expected = [
        "",
        f"# files below {settings.root.path}; services are run by the agent itself",
        f"# containerd is not on this machine (looked in {programs}); install it, or have an installer do so",
        f"# runc is {programs}/runc",
        f"# kubelet v1.35.8 is {programs}/kubelet",
        f"# {where.format('ByoHost team/node10')}",
    ]
    assert lines[1:] == [*expected, *([f"# next: {next_line}"] if next_line else [])]
    name = ("infrastructure.cluster.x-k8s.io/v1beta1", "ByoHost", "team", "node10")
    assert api.asked == ["http://given", name, "closed"]
    # Neither a heartbeat nor conditions: those come when it runs.
    assert lines[0].partition("status:")[2].split("\n", 1)[1] == (
        "  hostinfo:\n    architecture: arm64\n    osimage: Debian 12\n    osname: linux\n"
        "  network:\n  - networkInterfaceName: eth0"
    )
    for part in ("kind: ByoHost", "rack: a", "cpu: '4'", "memory: 2048Ki"):
        assert part in lines[0].replace('"', "'"), part


def test_a_dry_run_comes_in_with_the_agents_own_kubeconfig_where_it_is_given_none(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(short_path / "none"))
    settings = AgentSettings("node10", "team", RootFolder(short_path / "r"), short_path / "b")
    settings.root.prepare()
    api = Api(NotFoundError("gone"))
    monkeypatch.setattr(dry_run, "HttpTransport", api)
    settings.root.kubeconfig.write_text(KUBECONFIG.replace("SERVER", "http://own"))
    given = short_path / "given"
    given.write_text(KUBECONFIG.replace("SERVER", "http://given"))
    for kubeconfig, server in ((None, "http://own"), (given, "http://given")):
        api.asked.clear()
        asyncio.run(dry_run._registered(settings, kubeconfig))
        assert api.asked[0] == server


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (WaitStep("Why", "because"), "wait: Why because"),
        (WaitStep(), "wait until the host changes"),
        (WaitStep(until=NOON), "wait until 2026-01-01 12:00:00+00:00"),
        (InstallStep(script=False), "look for kubelet and containerd"),
        (CleanStep(True, "it is released"), "clean this machine, because it is released, and release the host"),
        (BeginStep(ClaimRecord("team", "w1", "c1")), "take the claim of team/w1 on record"),
    ],
)
def test_every_step_is_told_in_words(step: Step, words: str) -> None:
    assert dry_run._in_words(step) == words
