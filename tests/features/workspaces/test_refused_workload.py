"""A workload that the API refuses: the Workspace says why, in every condition, until it is taken."""

from __future__ import annotations

from mooring.features.workspaces.api import KIND
from mooring.kube.objects import Object
from mooring.testing.workspaces import gpu_node, workspace
from tests.features.workspaces.town import WorkspaceTown

# A new Workspace may have such a template: it is a pod template, and only what is made of it is no StatefulSet.
NO_CONTAINERS: Object = {"containers": []}


def test_what_keeps_the_stateful_set_from_being_made_is_in_the_conditions() -> None:
    town = WorkspaceTown(gpu_node("n0"), workspace(pod=NO_CONTAINERS))
    status, reason, message = town.condition("InferenceReady")
    assert (status, reason) == ("False", "WorkspaceInferenceStatusPending")
    assert "spec.template.spec.containers: Required value" in message
    assert not town.all("StatefulSet")
    town.patch(KIND, "llm", {"inference": workspace()["inference"]})
    town.run(600)
    assert town.condition("WorkspaceSucceeded")[0] == "True"
    assert "Required value" not in town.condition("InferenceReady")[2]
