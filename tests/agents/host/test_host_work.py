"""Each step of an agent carried out: what is done in which order, and what of it is in the journal and in the log."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mooring.agents.host import host_work
from mooring.agents.host.cleaning.cleaner import LeftBehind
from mooring.agents.host.detection.network import find_network, node_address
from mooring.agents.host.host_client import SecretUnavailable
from mooring.agents.host.host_informer import typed_host
from mooring.agents.host.host_work import HostWork, baseline_for, uninstall
from mooring.agents.host.journal import AgentJournal
from mooring.agents.host.node.join import JoinFailed
from mooring.agents.host.node.kubelet import NodePlan
from mooring.agents.host.node.programs import ProgramMissing
from mooring.agents.host.progress import AgentProgress, ClaimRecord, MachineBaseline, StepFailure
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.scripts import ScriptResult
from mooring.agents.host.settings import AgentSettings
from mooring.agents.host.steps import BeginStep, CleanStep, IdleStep, InstallStep, JoinStep, ServeStep, Step, WaitStep

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CLAIM = ClaimRecord("default", "w1", "c1")
MACHINE = MachineBaseline(("/var/lib/cni",), ("iptables/nat/KUBE-A",), {"kernel/panic": "0"})
SECRETS = {"bootstrapSecret": {"name": "boot"}, "installationSecret": {"name": "scripts"}}
HOST = typed_host({"metadata": {"name": "node10", "namespace": "team"}, "spec": SECRETS})


class Machine:
    """A machine and an API whose parts note what they are asked; whatever stands in `fails` goes wrong."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.root = RootFolder(folder / "r")
        self.root.prepare()
        self.settings = AgentSettings("node10", "team", self.root, folder / "b", **settings)
        self.journal = AgentJournal(self.root.journal)
        self.did: list[Any] = []
        self.fails: dict[str, Exception] = {}
        self.script = ScriptResult(0, "")
        self.work = HostWork(self.settings, self.journal, self.api(), self.services(), lambda: NOON)
        for name, played in {
            "existing_paths": lambda: MACHINE.paths,
            "list_chains": lambda: list(MACHINE.chains),
            "read_sysctls": lambda: MACHINE.sysctls,
            "search_path": lambda download: f"path of {download}",
            "find_program": self.find_program,
            "kubelet_version": self.kubelet_version,
            "run_script": self.run_script,
            "write_node_files": self.write_node_files,
            "join": self.join,
            "ensure_services": self.ensure_services,
            "stop_node": self.stop_node,
            "clean_machine": self.clean_machine,
            "may_lower_oom_score": lambda: False,
        }.items():
            monkeypatch.setattr(host_work, name, played)

    def note(self, what: str, *more: Any) -> None:
        self.did.append([what, *more] if more else what)
        if what in self.fails:
            raise self.fails[what]

    def services(self) -> Any:
        return self

    def api(self) -> Any:
        return self

    def find_program(self, name: str, path: str) -> str:
        self.note(f"find {name}", path)
        return f"/bin/{name}"

    async def kubelet_version(self, program: str) -> str:
        self.note("version", program)
        return "v1.35.8"

    async def run_script(self, root: RootFolder, path: Path, seconds: float) -> ScriptResult:
        assert root == self.root
        # Whatever is killed from here on, the journal knows that a script was begun.
        self.note("run", path.name, path.read_text(), seconds, self.journal.progress.install_begun)
        return self.script

    def write_node_files(self, plan: NodePlan, host: Any, bootstrap: bytes) -> None:
        assert host is HOST
        self.note("files", plan, bootstrap)

    async def join(self, plan: NodePlan, services: Any, seconds: float) -> None:
        assert services is self
        self.note("join", plan, seconds)

    async def ensure_services(self, plan: NodePlan, services: Any) -> None:
        assert services is self
        self.note("ensure", plan)

    async def stop_node(self, root: RootFolder, services: Any) -> None:
        assert (root, services) == (self.root, self)
        self.note("stop")

    async def clean_machine(self, root: RootFolder, services: Any, baseline: MachineBaseline) -> None:
        assert root == self.root
        self.note("clean", baseline)

    async def secret(self, reference: Any, key: str) -> bytes:
        self.note("secret", reference.name, key)
        return f"{key} in {{{{.BundleDownloadPath}}}} on {{{{ .Hostname }}}}".encode() + b"\xff"

    async def release(self, claim: ClaimRecord | None) -> None:
        # Told while the claim is on record still: an agent that is killed here tells it again.
        self.note("release", claim, self.journal.progress.claim)

    def carry_out(self, step: Step, host: Any = HOST) -> list[Any]:
        self.did.clear()
        asyncio.run(self.work.carry_out(step, host))
        # What is known is what is on disk.
        assert AgentJournal(self.root.journal).progress == self.journal.progress
        return self.did

    def plan(self, **fields: Any) -> NodePlan:
        address = node_address(find_network((self.root.bridge,)))
        plan = NodePlan(self.root, "node10", False, "", self.settings.download_path, "", address, True, "")
        return plan._replace(**fields)


@pytest.fixture
def machine(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(short_path, monkeypatch)


def failure(message: str, attempts: int = 1, seconds: int = 10) -> StepFailure:
    return StepFailure(message, attempts, NOON + timedelta(seconds=seconds))


def test_a_claim_is_on_record_with_the_machine_as_it_was(machine: Machine) -> None:
    assert machine.carry_out(BeginStep(CLAIM)) == []
    assert machine.journal.progress == AgentProgress(CLAIM, MACHINE)
    assert asyncio.run(baseline_for(machine.journal.progress)) == MACHINE
    assert asyncio.run(baseline_for(AgentProgress(CLAIM))) == MachineBaseline()
    # Without a claim on record, nothing that is there now is removed.
    assert asyncio.run(baseline_for(AgentProgress())) == MACHINE


def test_to_wait_or_to_be_idle_does_nothing(machine: Machine) -> None:
    for step in (IdleStep(), WaitStep("Why", "because")):
        assert machine.carry_out(step) == []
    # A host that is gone meanwhile has nothing to install or to join.
    for gone in (InstallStep(script=True), JoinStep()):
        assert machine.carry_out(gone, None) == []
    assert not machine.root.journal.exists()


VERIFIED = [
    *([f"find {name}", "path of {b}"] for name in ("containerd", "runc", "kubelet")),
    ["find kubelet", "path of {b}"],
    ["version", "/bin/kubelet"],
]


def verified(machine: Machine) -> list[Any]:
    return [[each.format(b=machine.settings.download_path) for each in row] for row in VERIFIED]


def test_both_scripts_are_on_disk_before_the_first_is_run(machine: Machine) -> None:
    said = f"{{}} in {machine.settings.download_path} on node10\ufffd"
    assert machine.carry_out(InstallStep(script=True)) == [
        ["secret", "scripts", "uninstall"],
        ["secret", "scripts", "install"],
        ["run", "install.sh", said.format("install"), 1200.0, True],
        *verified(machine),
    ]
    assert machine.journal.progress == AgentProgress(install_begun=True, installed=True, kubelet_version="v1.35.8")
    assert (machine.root.scripts / "uninstall.sh").read_text() == said.format("uninstall")
    assert machine.root.scripts.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in machine.root.scripts.iterdir()} == {0o600}
    # Once more is as good.
    assert len(machine.carry_out(InstallStep(script=True))) == 8


def test_without_a_script_the_programs_are_only_verified(machine: Machine) -> None:
    machine.journal.record(install_failure=failure("once"))
    assert machine.carry_out(InstallStep(script=False)) == verified(machine)
    assert machine.journal.progress == AgentProgress(installed=True, kubelet_version="v1.35.8")


@pytest.mark.parametrize(
    ("what", "error", "begun"),
    [
        ("secret", SecretUnavailable("Secret team/scripts has no key"), False),
        ("run", OSError("no space left"), True),
        ("find runc", ProgramMissing("runc is not there"), True),
        ("version", ProgramMissing("kubelet does not answer"), True),
    ],
)
def test_an_install_that_fails_is_told_and_tried_again_later_each_time(
    machine: Machine, caplog: pytest.LogCaptureFixture, what: str, error: Exception, begun: bool
) -> None:
    machine.fails[what] = error
    for attempts, seconds in ((1, 10), (2, 20), (3, 40)):
        machine.carry_out(InstallStep(script=True))
        told = failure(str(error), attempts, seconds)
        assert machine.journal.progress == AgentProgress(install_begun=begun, install_failure=told)
    assert caplog.messages == [str(error)] * 3


def test_a_script_that_fails_is_told_with_its_output_and_nothing_is_verified(machine: Machine) -> None:
    machine.script = ScriptResult(None, "half way")
    assert machine.carry_out(InstallStep(script=True))[-1][0] == "run"
    told = failure("the install script took longer than 1200 s: half way")
    assert machine.journal.progress == AgentProgress(install_begun=True, install_failure=told)


def test_a_node_is_planned_from_the_settings_and_the_machine(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(short_path, monkeypatch, systemd=True, pod_cidr="10.1.0.0/24", sandbox_image="pause")
    overrides = machine.settings.download_path / "kubelet.conf.d"
    overrides.mkdir(parents=True)
    monkeypatch.setattr(host_work, "may_lower_oom_score", lambda: True)
    network = [{"isDefault": True, "ipAddrs": ["192.0.2.7/24"]}]
    monkeypatch.setattr(host_work, "find_network", lambda names: network if names == (machine.root.bridge,) else [])
    plan = NodePlan(
        machine.root,
        "node10",
        True,
        "10.1.0.0/24",
        machine.settings.download_path,
        str(overrides),
        "192.0.2.7",
        False,
        "pause",
    )
    assert machine.carry_out(ServeStep()) == [["ensure", plan]]


def test_a_host_that_has_joined_is_on_record(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    machine.journal.record(join_failure=failure("once"))
    plan = machine.plan()
    bootstrap = b"value in {{.BundleDownloadPath}} on {{ .Hostname }}\xff"
    assert machine.carry_out(JoinStep()) == [
        ["secret", "boot", "value"],
        ["files", plan, bootstrap],
        ["join", plan, 300.0],
    ]
    assert machine.journal.progress == AgentProgress(joined=True)
    assert caplog.messages == ["the host is a node"]


@pytest.mark.parametrize(
    ("what", "error"),
    [("secret", SecretUnavailable("no key")), ("files", JoinFailed("no kubeconfig")), ("join", OSError("no socket"))],
)
def test_a_join_that_fails_is_told_and_tried_again_later_each_time(
    machine: Machine, caplog: pytest.LogCaptureFixture, what: str, error: Exception
) -> None:
    machine.journal.record(installed=True)
    machine.fails[what] = error
    for attempts, seconds in ((1, 10), (2, 20)):
        machine.carry_out(JoinStep())
        told = failure(str(error), attempts, seconds)
        assert machine.journal.progress == AgentProgress(installed=True, join_failure=told)
    assert caplog.messages == [str(error)] * 2


def test_a_join_that_finds_no_program_has_the_host_installed_again(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    machine.journal.record(installed=True, join_failure=failure("once"), install_failure=failure("before"))
    machine.fails["join"] = ProgramMissing("kubelet is not there")
    machine.carry_out(JoinStep())
    again = failure("kubelet is not there", 2, 20)
    assert machine.journal.progress == AgentProgress(join_failure=failure("once"), install_failure=again)
    assert caplog.messages == ["kubelet is not there"]


def test_services_that_cannot_be_started_are_told_and_nothing_else(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    machine.fails["ensure"] = ProgramMissing("kubelet is not there")
    assert machine.carry_out(ServeStep()) == [["ensure", machine.plan()]]
    assert machine.journal.progress == AgentProgress()
    assert caplog.messages == ["the services of the node cannot be started: kubelet is not there"]


def with_script(machine: Machine) -> Path:
    machine.root.scripts.mkdir(parents=True)
    path = machine.root.scripts / "uninstall.sh"
    path.write_text("echo")
    return path


def test_a_host_is_uninstalled_cleaned_and_released_in_this_order(machine: Machine) -> None:
    with_script(machine)
    progress = machine.journal.record(claim=CLAIM, baseline=MACHINE, install_begun=True, joined=True)
    assert machine.carry_out(CleanStep(True, "it is released"), None) == [
        "stop",
        ["run", "uninstall.sh", "echo", 1200.0, True],
        ["clean", MACHINE],
        ["release", CLAIM, CLAIM],
    ]
    assert progress != machine.journal.progress == AgentProgress()
    assert not machine.root.journal.exists()


def test_a_host_whose_claim_is_gone_is_cleaned_and_not_released(machine: Machine) -> None:
    machine.journal.record(claim=CLAIM)
    assert machine.carry_out(CleanStep(False, "another claim")) == ["stop", ["clean", MachineBaseline()]]
    assert not machine.root.journal.exists()
    # Files of a claim that is on no record: what others may have made stays.
    assert machine.carry_out(CleanStep(False, "left behind")) == ["stop", ["clean", MACHINE]]


@pytest.mark.parametrize(
    ("what", "error"), [("stop", OSError("no memory")), ("clean", LeftBehind("mount /x")), ("run", LeftBehind("odd"))]
)
def test_a_host_that_cannot_be_cleaned_keeps_its_claim(
    machine: Machine, caplog: pytest.LogCaptureFixture, what: str, error: Exception
) -> None:
    with_script(machine)
    before = machine.journal.record(claim=CLAIM, baseline=MACHINE, install_begun=True)
    machine.fails[what] = error
    for attempts, seconds in ((1, 10), (2, 20)):
        assert machine.carry_out(CleanStep(True, "it is released"))[-1][0] in (what, what[0])
        told = failure(str(error), attempts, seconds)
        assert machine.journal.progress == AgentProgress(CLAIM, MACHINE, True, clean_failure=told) != before
    assert caplog.messages == [str(error)] * 2


def test_an_uninstall_script_is_run_where_an_install_script_was(machine: Machine) -> None:
    def told(progress: AgentProgress) -> list[Any]:
        machine.did.clear()
        asyncio.run(uninstall(machine.settings, machine.services(), progress))
        return [each if isinstance(each, str) else each[0] for each in machine.did]

    assert told(AgentProgress(install_begun=True)) == ["stop"]
    script = with_script(machine)
    assert told(AgentProgress()) == ["stop"]
    assert told(AgentProgress(install_begun=True)) == ["stop", "run"]
    machine.script = ScriptResult(4, "")
    with pytest.raises(LeftBehind) as problem:
        told(AgentProgress(install_begun=True))
    assert str(problem.value) == (
        "the uninstall script ended with exit code 4: it printed nothing; "
        f"remove {script} to have the rest cleaned without it"
    )
