"""The agent's ByoHost: created, kept in line with the machine, and its status with the heartbeat.

What the agent says is applied (server-side apply) under its own name: a label that it no longer finds goes, and labels
of people stay. A new host is created with the agent's annotation and nothing else, because the rights to more than
that come with the object.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import mooring
from mooring.agents.host.conditions import OWN_CONDITIONS
from mooring.agents.host.detection.hardware import Hardware, capacity_of, hardware_labels
from mooring.agents.host.settings import AgentSettings
from mooring.client.transport import Request
from mooring.features.hosts.api.conditions import CLEANED, HOST_CLEAN
from mooring.features.hosts.api.names import AGENT, API_VERSION, HOST_LABEL
from mooring.kube.conditions import conditions_of, set_conditions
from mooring.kube.objects import Object
from mooring.kube.times import timestamp

__all__ = ["HOST_KIND", "creation", "description", "release", "status_update"]

HOST_KIND: Final = "ByoHost"
MANAGER: Final = "mooring-agent"


def creation(settings: AgentSettings) -> Request:
    return Request(
        "create", API_VERSION, HOST_KIND, settings.namespace, settings.name, _head(settings), manager=MANAGER
    )


def description(settings: AgentSettings, hardware: Hardware) -> Request:
    """What the machine has. Labels of the command line come first, then what was detected, then the host's name."""
    body = _head(settings)
    body["metadata"]["labels"] = {
        HOST_LABEL: settings.name,
        **hardware_labels(hardware),
        **settings.labels,
    }
    body["spec"] = {"capacity": capacity_of(hardware)}
    return Request("apply", API_VERSION, HOST_KIND, settings.namespace, settings.name, body, manager=MANAGER)


def status_update(
    settings: AgentSettings,
    hardware: Hardware,
    network: Sequence[Object],
    conditions: Sequence[Object],
    now: datetime,
) -> Request:
    """The heartbeat and everything else that the agent tells."""
    body: Object = {
        "apiVersion": API_VERSION,
        "kind": HOST_KIND,
        "metadata": {"name": settings.name, "namespace": settings.namespace},
        "status": {
            "lastHeartbeatTime": timestamp(now),
            "hostinfo": {
                "osname": hardware.os_name,
                "osimage": hardware.os_image,
                "architecture": hardware.architecture,
            },
            "network": list(network),
            "conditions": list(conditions),
        },
    }
    return Request("apply", API_VERSION, HOST_KIND, settings.namespace, settings.name, body, "status", manager=MANAGER)


def release(settings: AgentSettings, found: Object, now: datetime) -> Request:
    """The one write that frees a clean host: its claim and the agent's conditions go, decided on what was just read."""
    stamp = timestamp(now)
    kept = [each for each in conditions_of(found) if each["type"] not in OWN_CONDITIONS or each["type"] == HOST_CLEAN]
    wanted = {"type": HOST_CLEAN, "status": "True", "reason": CLEANED}
    conditions = set_conditions(kept, [wanted], stamp) or kept
    body: Object = {"status": {"machineRef": None, "lastHeartbeatTime": stamp, "conditions": conditions}}
    return Request(
        "patch",
        API_VERSION,
        HOST_KIND,
        settings.namespace,
        settings.name,
        body,
        "status",
        MANAGER,
        uid=found["metadata"]["uid"],
        resource_version=found["metadata"]["resourceVersion"],
    )


def _head(settings: AgentSettings) -> Object:
    metadata: Object = {
        "name": settings.name,
        "namespace": settings.namespace,
        "annotations": {AGENT: mooring.__version__},
    }
    return {"apiVersion": API_VERSION, "kind": HOST_KIND, "metadata": metadata}
