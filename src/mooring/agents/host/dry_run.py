"""What an agent would register and do, for `--dry-run`. The API is read where it can be; nothing is written."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from mooring.agents.host.detection.hardware import find_hardware
from mooring.agents.host.detection.network import find_network
from mooring.agents.host.host_informer import typed_host
from mooring.agents.host.journal import AgentJournal
from mooring.agents.host.node.programs import REQUIRED, ProgramMissing, find_program, kubelet_version, search_path
from mooring.agents.host.registration import HOST_KIND, description, status_update
from mooring.agents.host.settings import AgentSettings
from mooring.agents.host.steps import (
    BeginStep,
    CleanStep,
    IdleStep,
    InstallStep,
    JoinStep,
    ServeStep,
    Step,
    WaitStep,
    next_step,
)
from mooring.client.http import HttpTransport
from mooring.client.kubeconfig import find_access
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import API_VERSION
from mooring.kube.errors import MooringError
from mooring.kube.status import NotFoundError
from mooring.manifests.emit import to_yaml

__all__ = ["preview"]


async def preview(settings: AgentSettings, kubeconfig: Path | None) -> list[str]:
    """The ByoHost in YAML, then a comment for each thing that would be done."""
    now = datetime.now(UTC)
    hardware = await find_hardware()
    network = find_network((settings.root.bridge,))
    shown = description(settings, hardware).body
    shown["status"] = status_update(settings, hardware, network, (), now).body["status"]
    for field in ("lastHeartbeatTime", "conditions"):
        del shown["status"][field]
    lines = [to_yaml(shown).rstrip(), ""]
    manager = "systemd" if settings.systemd else "the agent itself"
    lines.append(f"# files below {settings.root.path}; services are run by {manager}")
    lines += [f"# {line}" for line in await _programs(settings)]
    host, where = await _registered(settings, kubeconfig)
    lines.append(f"# {where}")
    progress = AgentJournal(settings.root.journal).progress
    if host is not None or progress.claim is not None:
        leftovers = progress.claim is None and settings.root.node.exists()
        step = next_step(host, progress, now, leftovers=leftovers, skip_installation=settings.skip_installation)
        lines.append(f"# next: {_in_words(step)}")
    return lines


async def _programs(settings: AgentSettings) -> list[str]:
    path, found = search_path(settings.download_path), []
    for name in REQUIRED:
        try:
            program = find_program(name, path)
            version = f" {await kubelet_version(program)}" if name == "kubelet" else ""
            found.append(f"{name}{version} is {program}")
        except ProgramMissing as error:
            found.append(str(error))
    return found


async def _registered(settings: AgentSettings, kubeconfig: Path | None) -> tuple[ByoHost | None, str]:
    """The host as the API has it, and a sentence about it."""
    name = f"{HOST_KIND} {settings.namespace}/{settings.name}"
    try:
        access = find_access(kubeconfig or (settings.root.kubeconfig if settings.root.kubeconfig.exists() else None))
    except MooringError as error:
        return None, f"{name} would be created or updated ({error})"
    transport = HttpTransport(access)
    try:
        found = await transport.get(API_VERSION, HOST_KIND, settings.namespace, settings.name)
        return typed_host(found), f"{name} on {access.server} would be updated"
    except NotFoundError:
        return None, f"{name} on {access.server} would be created"
    except MooringError as error:
        return None, f"{name} would be created or updated ({error})"
    finally:
        await transport.close()


def _in_words(step: Step) -> str:
    match step:
        case IdleStep():
            return "wait for a claim"
        case WaitStep(reason, message, until):
            return f"wait: {reason} {message}" if reason else f"wait until {until or 'the host changes'}"
        case BeginStep(claim):
            return f"take the claim of {claim.namespace}/{claim.name} on record"
        case InstallStep(script):
            return "run the install script" if script else "look for kubelet and containerd"
        case JoinStep():
            return "write the node's files, start containerd and kubelet, wait for the kubelet's certificate"
        case ServeStep():
            return "keep containerd and kubelet running"
        case CleanStep(release, why):
            return f"clean this machine, because {why}{', and release the host' if release else ''}"
