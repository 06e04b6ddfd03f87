"""What a controller may do to the kinds that it writes: declared, held at every decision, told when it is missing."""

from __future__ import annotations

import logging

import pytest

from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ConflictError, ForbiddenError
from mooring.registry import AdmissionRequest, ClusterView, Registry
from mooring.runtime.decision import Apply, ApplyStatus, Bind, Create, Decision, Delete, Evict, Patch, Scale, Write
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.rights import missing_right
from tests.runtime.rules import A, controller, dispatcher, seen
from tests.runtime.sample import CONFIG_MAP, COPIER
from tests.runtime.worlds import config_map, create

OWNED: Object = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "uid-a", "controller": True}
BLOCKING: Object = {**OWNED, "blockOwnerDeletion": True}
OBJECT: Object = {"metadata": {"name": "b", "namespace": "default"}}


def decided(write: Write, *rights: str, old: Object | None = None) -> None:
    """Let a controller with these rights decide on a write."""
    made = dispatcher(controller(lambda k, v, n: Decision(children=(write,)), writes={CONFIG_MAP: rights}))
    made.observe(CONFIG_MAP, "ADDED", old or seen("a", 5))
    made.flush(START)
    made.next(START)


@pytest.mark.parametrize(
    ("write", "rights"),
    [
        (Create(CONFIG_MAP, OBJECT), ("create",)),
        (Apply(CONFIG_MAP, OBJECT), ("create", "patch")),
        (Patch(CONFIG_MAP, A, {"data": {}}), ("patch",)),
        (Patch(CONFIG_MAP, A, {"status": {}}, "status"), ("status",)),
        (Patch(CONFIG_MAP, A, {"spec": {}}, "finalize"), ("finalize",)),
        (ApplyStatus(CONFIG_MAP, A, {}), ("status",)),
        (Scale(CONFIG_MAP, A, 1), ("scale",)),
        (Delete(CONFIG_MAP, A), ("delete",)),
        (Evict(CONFIG_MAP, A), ("eviction",)),
        (Bind(CONFIG_MAP, A, "n"), ("binding",)),
        # Whoever changes owners decides about a deletion.
        (Patch(CONFIG_MAP, A, {"metadata": {"ownerReferences": [OWNED]}}), ("patch", "delete")),
        (Patch(CONFIG_MAP, A, {"metadata": {"ownerReferences": None}}), ("patch", "delete")),
    ],
)
def test_every_write_needs_its_rights_and_no_others(write: Write, rights: tuple[str, ...]) -> None:
    decided(write, *rights)
    for lacking in rights:
        rest = [right for right in ("patch", "create", "delete", "status", "scale", "binding") if right != lacking]
        with pytest.raises(MooringError, match=f"tried needs the right '{lacking}' on v1/ConfigMap for default/[ab]"):
            decided(write, *rest)


def test_what_holds_up_its_owner_needs_the_finalizers_of_that_kind() -> None:
    child = {"metadata": {**OBJECT["metadata"], "ownerReferences": [BLOCKING]}}
    decided(Create(CONFIG_MAP, child), "create", "finalizers")
    with pytest.raises(MooringError, match="hold up the deletion of ConfigMap a; add the right 'finalizers' on v1/Con"):
        decided(Create(CONFIG_MAP, child), "create")


def test_an_owner_that_was_held_up_before_needs_nothing_more() -> None:
    old = seen("a", 5)
    old["metadata"]["ownerReferences"] = [BLOCKING]
    kept = Patch(CONFIG_MAP, A, {"metadata": {"ownerReferences": [BLOCKING]}})
    decided(kept, "patch", "delete", old=old)
    with pytest.raises(MooringError, match="'finalizers'"):
        decided(kept, "patch", "delete")


NO_RIGHT = (
    'configmaps is forbidden: User "ada" cannot create resource "configmaps" in API group "" in the namespace "x"'
)


@pytest.mark.parametrize(
    ("request_", "error", "said"),
    [
        (Request("create", "v1", "ConfigMap", "x", "b", {}), NO_RIGHT, "create configmaps in namespace x"),
        (Request("apply", "v1", "Node", "", "n", {}, "status"), NO_RIGHT, "patch nodes/status"),
        (Request("bind", "v1", "Pod", "x", "p", {}), NO_RIGHT, "create pods/binding in namespace x"),
        (Request("evict", "v1", "Pod", "x", "p", {}), NO_RIGHT, "create pods/eviction in namespace x"),
        (Request("patch", "v1", "Namespace", "", "x", {}, "finalize"), NO_RIGHT, "update namespaces/finalize"),
        (
            Request("create", "v1", "ConfigMap", "x", "b", {"metadata": {"ownerReferences": [BLOCKING]}}),
            'configmaps "b" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource '
            "you can't set finalizers on: , <nil>",
            "update configmaps/finalizers in namespace x",
        ),
        (
            Request("patch", "v1", "ConfigMap", "x", "b", {}),
            'configmaps "b" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>',
            "delete configmaps in namespace x",
        ),
        # Forbidden, but by no access rule.
        (Request("create", "v1", "Pod", "x", "p", {}), 'pods "p" is forbidden: exceeded quota: small', ""),
    ],
)
def test_a_right_that_is_missing_is_named(request_: Request, error: str, said: str) -> None:
    assert missing_right(request_, ForbiddenError(error)) == said
    assert missing_right(request_, ConflictError(error)) == ""


def test_the_log_says_which_controller_lacks_which_right(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(request: AdmissionRequest, view: ClusterView) -> None:
        raise ForbiddenError(NO_RIGHT)

    registry = Registry(now=START)
    simulation = Simulation([COPIER], registry=registry)
    create(simulation, config_map("a", copies="1"))
    registry.admission.validating.append(refuse)
    with caplog.at_level(logging.WARNING):
        simulation.run()
    said = "controller copier may not create configmaps in namespace default; config/rbac grants it: " + NO_RIGHT
    assert said in caplog.text
