"""The Role of an agent: its own host, and the Secrets of its claim for as long as it has one."""

from __future__ import annotations

from typing import Any

from mooring.api.kinds import Key
from mooring.features.hosts.access.controller import ROLE, ROLE_BINDING, reconcile
from mooring.features.hosts.api.kinds import BYO_HOST
from mooring.features.hosts.api.names import AGENT
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Decision, Patch
from mooring.testing.hosts import byo_host
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST
from tests.builtin.certificates.requests import signing_request
from tests.features.hosts.approval.requests import put_agent_request
from tests.features.hosts.world import HostWorld

KINDS = (BYO_HOST, ROLE, ROLE_BINDING, CERTIFICATE_SIGNING_REQUEST)
CLAIMED = {"bootstrapSecret": {"name": "m1"}, "installationSecret": {"name": "m1-install"}}


def agents_host(**spec: Any) -> Object:
    return byo_host("node10", annotations={AGENT: "1"}, **spec)


def decided(*objects: Object) -> Decision:
    return reconcile(Key("default", "node10"), view_of(objects, kinds=KINDS), NOON)


def rules(*objects: Object) -> list[str]:
    [role] = [each for each in decided(*objects).children if each.kind is ROLE]
    assert isinstance(role, Create)
    return [
        f"{' '.join(each['verbs'])}: {each['resources'][0]} {' '.join(each['resourceNames'])}"
        for each in role.object["rules"]
    ]


def test_an_agent_has_its_own_host_and_no_other() -> None:
    assert rules(agents_host()) == ["get list watch patch: byohosts node10", "patch: byohosts/status node10"]


def test_an_agent_reads_the_secrets_that_its_claim_names() -> None:
    assert rules(agents_host(**CLAIMED))[2:] == ["get: secrets m1 m1-install"]


def test_a_claim_gives_no_right_in_another_namespace() -> None:
    elsewhere = {"bootstrapSecret": {"name": "m1", "namespace": "kube-system"}}
    assert len(rules(agents_host(**elsewhere))) == 2


def test_a_host_without_an_agent_has_no_role() -> None:
    assert decided(byo_host("node10")).empty
    other = signing_request(name="byoh-csr-node11")
    assert decided(byo_host("node10"), other).empty


def test_an_agent_that_asks_for_its_certificate_gets_its_role() -> None:
    assert len(decided(byo_host("node10"), signing_request(name="byoh-csr-node10")).children) == 2


def test_a_released_host_reads_no_secret_any_more() -> None:
    world = HostWorld(byo_host("node10"))
    put_agent_request(world.simulation, "node10")
    world.patch("ByoHost", "node10", {"spec": CLAIMED})
    world.run(60)
    names = [rule["resources"] for rule in role_of(world)["rules"]]
    assert ["secrets"] in names
    world.patch("ByoHost", "node10", {"spec": dict.fromkeys(CLAIMED)})
    world.run(60)
    assert ["secrets"] not in [rule["resources"] for rule in role_of(world)["rules"]]


def test_a_role_that_was_changed_is_put_right() -> None:
    changed = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "byoh-host-node10", "namespace": "default"},
        "rules": [{"verbs": ["*"], "apiGroups": [""], "resources": ["secrets"]}],
    }
    [write] = [each for each in decided(agents_host(), changed).children if each.kind is ROLE]
    assert isinstance(write, Patch)
    assert [rule["resources"] for rule in write.body["rules"]] == [["byohosts"], ["byohosts/status"]]


def role_of(world: HostWorld) -> Object:
    registry = world.simulation.registry
    return registry.get(registry.resource("rbac.authorization.k8s.io/v1", "Role"), "default", "byoh-host-node10")
