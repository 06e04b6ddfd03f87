"""Carries the agent's steps out. A step that fails leaves its failure in the journal, and is tried again when due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from mooring.agents.host.cleaning.cleaner import LeftBehind, clean_machine, stop_node
from mooring.agents.host.cleaning.firewall import list_chains
from mooring.agents.host.cleaning.outside_files import existing_paths
from mooring.agents.host.cleaning.sysctls import read_sysctls
from mooring.agents.host.detection.network import find_network, node_address
from mooring.agents.host.host_client import HostClient
from mooring.agents.host.journal import AgentJournal
from mooring.agents.host.node.join import ensure_services, join, may_lower_oom_score, write_node_files
from mooring.agents.host.node.kubelet import NodePlan
from mooring.agents.host.node.programs import REQUIRED, ProgramMissing, find_program, kubelet_version, search_path
from mooring.agents.host.progress import AgentProgress, MachineBaseline, failed_again
from mooring.agents.host.scripts import expand_script, run_script
from mooring.agents.host.services.service import ServiceManager
from mooring.agents.host.settings import AgentSettings
from mooring.agents.host.steps import BeginStep, CleanStep, InstallStep, JoinStep, ServeStep, Step
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import BOOTSTRAP_VALUE, INSTALL_SCRIPT, UNINSTALL_SCRIPT
from mooring.kube.errors import MooringError
from mooring.net.private_files import write_private

__all__ = ["HostWork", "baseline_for", "baseline_of_machine", "uninstall"]

# What is told in a condition and tried again, and does not end the agent.
_FAILURES: Final = (MooringError, OSError)
_log = logging.getLogger("mooring.agent")


def baseline_of_machine() -> MachineBaseline:
    return MachineBaseline(existing_paths(), tuple(list_chains()), read_sysctls())


async def baseline_for(progress: AgentProgress) -> MachineBaseline:
    """What was there before the claim. Without a record of that, nothing that others may have made is touched."""
    return progress.baseline if progress.claim is not None else await asyncio.to_thread(baseline_of_machine)


class HostWork:
    def __init__(
        self,
        settings: AgentSettings,
        journal: AgentJournal,
        client: HostClient,
        services: ServiceManager,
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._journal, self._client = settings, journal, client
        self._services, self._clock = services, clock

    async def carry_out(self, step: Step, host: ByoHost | None) -> None:
        match step:
            case BeginStep(claim):
                baseline = await asyncio.to_thread(baseline_of_machine)
                self._journal.record(claim=claim, baseline=baseline)
                _log.info("claimed by %s/%s", claim.namespace, claim.name)
            case InstallStep(script) if host is not None:
                await self._install(host, script=script)
            case JoinStep() if host is not None:
                await self._join(host)
            case ServeStep():
                await self._serve()
            case CleanStep(release, why):
                await self._clean(release=release, why=why)

    # Install

    async def _install(self, host: ByoHost, *, script: bool) -> None:
        try:
            problem = await self._run_install_script(host) if script else ""
            version = "" if problem else await self._verified_version()
        except _FAILURES as error:
            problem, version = str(error), ""
        if problem:
            _log.warning("%s", problem)
            failure = failed_again(self._journal.progress.install_failure, problem, self._clock())
            self._journal.record(install_failure=failure)
        else:
            self._journal.record(installed=True, install_failure=None, kubelet_version=version)

    async def _run_install_script(self, host: ByoHost) -> str:
        """Both scripts are on disk before the first is run: the Secret may be gone when the other one is needed."""
        assert host.spec.installation_secret is not None
        for name, key in (("uninstall", UNINSTALL_SCRIPT), ("install", INSTALL_SCRIPT)):
            text = await self._client.secret(host.spec.installation_secret, key)
            self._write_script(name, text.decode(errors="replace"))
        self._journal.record(install_begun=True)
        seconds = self._settings.script_timeout.total_seconds()
        done = await run_script(self._settings.root, self._script("install"), seconds)
        return done.problem("install", seconds)

    async def _verified_version(self) -> str:
        path = search_path(self._settings.download_path)
        for name in REQUIRED:
            find_program(name, path)
        return await kubelet_version(find_program("kubelet", path))

    # Join

    async def _join(self, host: ByoHost) -> None:
        try:
            assert host.spec.bootstrap_secret is not None
            bootstrap = await self._client.secret(host.spec.bootstrap_secret, BOOTSTRAP_VALUE)
            await asyncio.to_thread(write_node_files, self._plan(), host, bootstrap)
            seconds = self._settings.join_timeout.total_seconds()
            await join(self._plan(), self._services, seconds)
        except ProgramMissing as error:
            # It was there when it was installed: the installation is done once more.
            _log.warning("%s", error)
            self._journal.record(
                installed=False,
                install_failure=failed_again(self._journal.progress.install_failure, str(error), self._clock()),
            )
        except _FAILURES as error:
            _log.warning("%s", error)
            failure = failed_again(self._journal.progress.join_failure, str(error), self._clock())
            self._journal.record(join_failure=failure)
        else:
            self._journal.record(joined=True, join_failure=None)
            _log.info("the host is a node")
            if host.spec.manage_kube_proxy:
                _log.warning("manageKubeProxy is set, and this agent runs no kube-proxy; run it as a DaemonSet")

    async def _serve(self) -> None:
        try:
            await ensure_services(self._plan(), self._services)
        except _FAILURES as error:
            _log.warning("the services of the node cannot be started: %s", error)

    def _plan(self) -> NodePlan:
        settings = self._settings
        overrides = settings.download_path / "kubelet.conf.d"
        return NodePlan(
            settings.root,
            settings.name,
            settings.systemd,
            settings.pod_cidr,
            settings.download_path,
            kubelet_overrides=str(overrides) if overrides.is_dir() else "",
            address=node_address(find_network((settings.root.bridge,))),
            restrict_oom_score=not may_lower_oom_score(),
            sandbox_image=settings.sandbox_image,
        )

    # Clean

    async def _clean(self, *, release: bool, why: str) -> None:
        _log.info("the host is cleaned: %s", why)
        progress = self._journal.progress
        try:
            await uninstall(self._settings, self._services, progress)
            await clean_machine(self._settings.root, self._services, await baseline_for(progress))
        except _FAILURES as error:
            _log.warning("%s", error)
            failure = failed_again(progress.clean_failure, str(error), self._clock())
            self._journal.record(clean_failure=failure)
            return
        if release:
            await self._client.release(progress.claim)
        self._journal.clear()
        _log.info("the host is clean")

    # Scripts

    def _script(self, name: str) -> Path:
        return _script_of(self._settings, name)

    def _write_script(self, name: str, text: str) -> None:
        self._settings.root.scripts.mkdir(mode=0o700, parents=True, exist_ok=True)
        variables = {"BundleDownloadPath": str(self._settings.download_path), "Hostname": self._settings.name}
        write_private(self._script(name), expand_script(text, variables).encode())


async def uninstall(settings: AgentSettings, services: ServiceManager, progress: AgentProgress) -> None:
    """End the node and run the uninstall script where an install script was run. Raises LeftBehind if that fails."""
    await stop_node(settings.root, services)
    path = _script_of(settings, "uninstall")
    # Once the script has run it goes with the other files of the claim.
    if progress.install_begun and path.exists():
        seconds = settings.script_timeout.total_seconds()
        done = await run_script(settings.root, path, seconds)
        if problem := done.problem("uninstall", seconds):
            raise LeftBehind(f"{problem}; remove {path} to have the rest cleaned without it")


def _script_of(settings: AgentSettings, name: str) -> Path:
    return settings.root.scripts / f"{name}.sh"
