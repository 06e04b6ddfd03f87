"""The controllers of hosts."""

from __future__ import annotations

from typing import Final

from mooring.features.hosts import byocluster, byomachinetemplate
from mooring.features.hosts.access import controller as access
from mooring.features.hosts.approval import controller as approval
from mooring.features.hosts.bootstrap import controller as bootstrap
from mooring.features.hosts.byohost import controller as byohost
from mooring.features.hosts.byomachine import controller as byomachine
from mooring.features.hosts.installer import controller as installer
from mooring.features.hosts.simulated import controller as simulated
from mooring.runtime.controller import Controller

CONTROLLERS: Final[tuple[Controller, ...]] = (
    byohost.CONTROLLER,
    byomachine.CONTROLLER,
    byomachinetemplate.CONTROLLER,
    byocluster.CONTROLLER,
    installer.CONTROLLER,
    bootstrap.CONTROLLER,
    approval.CONTROLLER,
    access.CONTROLLER,
    simulated.CONTROLLER,
)
