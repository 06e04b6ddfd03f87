"""What an agent may write of hosts, and what of its own host is not its own to say."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.hosts.access.admission import check_agent
from mooring.features.hosts.api.kinds import BYO_HOST
from mooring.features.hosts.api.names import API_VERSION
from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import Admitted, Denied, WebhookRequest
from mooring.testing.hosts import byo_host
from mooring.testing.views import view_of

AGENT = "byoh:host:node10"
CLAIM = {"kind": "ByoMachine", "name": "m1", "uid": "1"}


def answer(
    operation: Any, new: Object | None, old: Object | None = None, *, user: str = AGENT, subresource: str = ""
) -> str:
    """What is said against a write; empty where nothing is."""
    name = (new or old or {})["metadata"]["name"]
    groups = ("byoh:hosts",) if user.startswith("byoh:") else ("system:masters",)
    request = WebhookRequest(
        *(operation, API_VERSION, "ByoHost", "byohosts", name, "default", new, old, subresource, user, groups)
    )
    said = check_agent(request, view_of([], kinds=[BYO_HOST]))
    assert isinstance(said, Admitted | Denied)
    return said.message if isinstance(said, Denied) else ""


def with_status(**status: Any) -> Object:
    return {**byo_host("node10"), "status": status}


def test_an_agent_registers_and_describes_its_own_host() -> None:
    assert answer("CREATE", byo_host("node10")) == ""
    assert answer("UPDATE", byo_host("node10", cpu="16", labels={"purpose": "gpu"}), byo_host("node10")) == ""
    assert answer("UPDATE", with_status(lastHeartbeatTime="now"), with_status(), subresource="status") == ""


def test_an_agent_writes_no_other_host() -> None:
    other = byo_host("node11")
    said = "byoh:host:node10 may write ByoHost node10 only, and not node11"
    assert answer("CREATE", other) == answer("UPDATE", other, other) == said
    assert answer("DELETE", None, other) == said


def test_an_agent_does_not_delete_its_host() -> None:
    assert "may not delete ByoHost node10" in answer("DELETE", None, byo_host("node10"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bootstrapSecret", {"name": "any"}),
        ("installationSecret", {"name": "any"}),
        ("joinMode", "tlsBootstrap"),
        ("kubernetesVersion", "v1.0.0"),
        ("labels", {"pool": "gpu"}),
        ("taints", [{"key": "a", "effect": "NoSchedule"}]),
    ],
)
def test_an_agent_does_not_say_what_a_claim_says(field: str, value: Any) -> None:
    plain = byo_host("node10")
    new = {**plain, "spec": {**plain["spec"], field: value}}
    said = f"spec.{field} of ByoHost node10 are set by a claim, and not by its agent"
    assert answer("UPDATE", new, plain) == said
    assert answer("CREATE", new) == said
    assert answer("UPDATE", new, new) == ""


def test_an_agent_ends_its_claim_and_begins_none() -> None:
    claimed, free = with_status(machineRef=CLAIM), with_status()
    assert answer("UPDATE", free, claimed, subresource="status") == ""
    assert answer("UPDATE", claimed, claimed, subresource="status") == ""
    said = "status.machineRef of ByoHost node10 is set by a ByoMachine; its agent may only clear it"
    assert answer("UPDATE", claimed, free, subresource="status") == said
    stolen = with_status(machineRef={**CLAIM, "uid": "2"})
    assert answer("UPDATE", stolen, claimed, subresource="status") == said


def test_others_than_agents_are_passed_by() -> None:
    assert answer("UPDATE", with_status(machineRef=CLAIM), with_status(), user="ada", subresource="status") == ""
    assert answer("DELETE", None, byo_host("node11"), user="ada") == ""
