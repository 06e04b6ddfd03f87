"""The controllers of hosts, made with the settings of the process."""

from __future__ import annotations

from mooring.features.hosts import byocluster, byomachinetemplate
from mooring.features.hosts.access import controller as access
from mooring.features.hosts.approval import controller as approval
from mooring.features.hosts.bootstrap.controller import bootstrap_controller
from mooring.features.hosts.byohost.controller import byohost_controller
from mooring.features.hosts.byomachine import controller as byomachine
from mooring.features.hosts.installer import controller as installer
from mooring.features.hosts.settings import HostSettings
from mooring.features.hosts.simulated.controller import simulated_hosts
from mooring.runtime.controller import Controller


def host_controllers(settings: HostSettings | None = None) -> tuple[Controller, ...]:
    chosen = settings or HostSettings()
    return (
        byohost_controller(chosen),
        byomachine.CONTROLLER,
        byomachinetemplate.CONTROLLER,
        byocluster.CONTROLLER,
        installer.CONTROLLER,
        bootstrap_controller(chosen),
        approval.CONTROLLER,
        access.CONTROLLER,
        simulated_hosts(chosen),
    )
