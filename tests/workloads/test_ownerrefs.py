"""Owner references: who manages a child, and how one is taken and let go."""

from __future__ import annotations

import msgspec

from mooring.api.kinds import Key
from mooring.kube.selectors import selector_from_dict
from mooring.runtime.decision import Patch
from mooring.workloads.kinds import DEPLOYMENT, NODE, REPLICA_SET
from mooring.workloads.ownerrefs import claims, controller_reference, is_controlled_by, owner_reference, release
from tests.workloads.objects import bare, reference

WEB = bare("web")
MINE = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "name": "web",
    "uid": "uid-web",
    "controller": True,
    "blockOwnerDeletion": True,
}
GUARD = {"apiVersion": "apps/v1", "kind": "Guard", "name": "guard", "uid": "uid-guard"}
SELECTOR = selector_from_dict({"matchLabels": {"app": "web"}})


def references(patch: Patch) -> object:
    return patch.body["metadata"]["ownerReferences"]


def test_the_owner_that_manages_a_child_is_marked_as_such() -> None:
    assert controller_reference(DEPLOYMENT, WEB) == MINE
    assert owner_reference(NODE, bare("n0")) == {"apiVersion": "v1", "kind": "Node", "name": "n0", "uid": "uid-n0"}


def test_a_namesake_of_the_owner_controls_nothing() -> None:
    child = bare("child", reference("web"))
    assert is_controlled_by(child, WEB)
    namesake = msgspec.structs.replace(WEB, metadata=msgspec.structs.replace(WEB.metadata, uid="uid-of-another"))
    assert not is_controlled_by(child, namesake)
    assert not is_controlled_by(bare("child", reference("web", controller=False)), WEB)


def test_ownership_follows_the_selector_and_leaves_other_owners_alone() -> None:
    guard = reference("guard", "Guard", controller=False)
    orphan, stranger = bare("orphan", guard, labels={"app": "web"}), bare("stranger", labels={"app": "db"})
    lost, kept = bare("lost", guard, reference("web")), bare("kept", reference("web"), labels={"app": "web"})
    adopted, released = claims(REPLICA_SET, DEPLOYMENT, WEB, SELECTOR, (lost, kept), (orphan, stranger))
    assert (adopted.key, references(adopted)) == (Key("team", "orphan"), [GUARD, MINE])
    assert (released.key, references(released)) == (Key("team", "lost"), [GUARD])


def test_the_last_reference_goes_with_its_field() -> None:
    assert references(release(REPLICA_SET, bare("child", reference("web")), WEB)) is None


def test_nothing_is_claimed_by_an_owner_that_goes_or_selects_everything() -> None:
    orphan = bare("orphan", labels={"app": "web"})
    going = bare("web", deletion_timestamp="2026-01-01T00:00:00Z")
    assert claims(REPLICA_SET, DEPLOYMENT, going, SELECTOR, (), (orphan,)) == ()
    assert claims(REPLICA_SET, DEPLOYMENT, WEB, selector_from_dict({}), (), (orphan,)) == ()
