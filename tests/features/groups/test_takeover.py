"""Groups that run stay as they are: another spelling of their template, or a revision that somebody else wrote."""

from __future__ import annotations

import pytest

from mooring.features.groups.api import KIND
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from tests.features.groups.revision_cases import SAME
from tests.features.groups.town import Town


def own_revisions(town: Town) -> list[Object]:
    return [obj for obj in town.all("ControllerRevision").values() if "leaderWorkerTemplate" in obj["data"]["spec"]]


@pytest.mark.parametrize("case", SAME)
def test_another_spelling_of_a_template_replaces_no_group(case: str) -> None:
    first, *others = SAME[case]
    town = Town(first, nodes=2)
    before = town.uids()
    for other in others:
        new = town.get(KIND)
        spec = {**other["spec"], "rolloutStrategy": new["spec"]["rolloutStrategy"]}
        resource = town.registry.resource(new["apiVersion"], KIND)
        town.registry.update(resource, {**new, "spec": spec}, now=town.simulation.now)
        town.run()
        assert town.uids() == before
        assert len(own_revisions(town)) == 1


def test_a_set_whose_revision_was_written_in_another_spelling_stays_as_it_is() -> None:
    """As an earlier Mooring wrote it: what people wrote, with the policy itself instead of what it comes to."""
    town = Town(leader_worker_set(unique="example.com/node-group", size=2), run=False)
    town.run()
    before, (old,) = town.uids(), own_revisions(town)
    written = town.get(KIND)["spec"]
    assert old["data"]["spec"]["leaderWorkerTemplate"] != written["leaderWorkerTemplate"]
    data = {"spec": {name: written[name] for name in ("leaderWorkerTemplate", "networkConfig")}}
    kept = ("name", "namespace", "labels", "ownerReferences")
    town.delete("ControllerRevision", old["metadata"]["name"])
    town.create({**old, "metadata": {name: old["metadata"][name] for name in kept}, "data": data})
    town.run()
    assert town.uids() == before
    (copy,) = own_revisions(town)
    assert (copy["metadata"]["labels"], copy["revision"]) == (old["metadata"]["labels"], old["revision"])


def test_of_two_revisions_of_one_template_groups_keep_their_own() -> None:
    """Two that an earlier Mooring took for different, and an update between them that was not over yet."""
    town = Town(leader_worker_set(replicas=2, size=2), nodes=1)
    before, (old,) = town.uids(), own_revisions(town)
    meta = old["metadata"]
    labels = {**meta["labels"], "leaderworkerset.sigs.k8s.io/template-revision-hash": "4567"}
    newer = {
        "name": "serve-4567-2",
        "namespace": "default",
        "labels": labels,
        "ownerReferences": meta["ownerReferences"],
    }
    town.create(
        {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": newer, "data": old["data"], "revision": 2}
    )
    town.run()
    assert town.uids() == before
