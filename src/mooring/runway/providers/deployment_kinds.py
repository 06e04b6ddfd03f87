"""The kinds that deployments are: how each is listed, how its pods are found, and how its state is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from mooring.features.groups import api as groups
from mooring.features.workspaces import api as workspaces
from mooring.kube.objects import Object
from mooring.runway.deployments.deployed_model import DeployedModel
from mooring.runway.providers import labels
from mooring.runway.providers.group_status import group_deployment
from mooring.runway.providers.workspace_status import workspace_deployment

__all__ = ["DEPLOYMENT_KINDS", "DeploymentKind", "deployment", "selected_labels"]


class DeploymentKind(NamedTuple):
    api_version: str
    kind: str
    # The label by which pods name the object that they belong to.
    pod_label: str
    # The selector of its objects that are deployments; empty where all are.
    selector: str
    read: Callable[[Object, Sequence[Object], str], DeployedModel]

    def pod_selector(self, name: str) -> str:
        return f"{self.pod_label}={name}"


# Every Workspace serves a model, whoever wrote it. Groups of pods serve all sorts of things.
DEPLOYMENT_KINDS: Final = (
    DeploymentKind(workspaces.API_VERSION, workspaces.KIND, workspaces.NAME_LABEL, "", workspace_deployment),
    DeploymentKind(groups.API_VERSION, groups.KIND, groups.NAME, labels.PROVIDER, group_deployment),
)


def deployment(obj: Object, pods: Sequence[Object], provider: str) -> DeployedModel:
    """The state of a deployment, by its main object and its pods. `provider` is that of an object which names none."""
    return next(each for each in DEPLOYMENT_KINDS if each.kind == obj["kind"]).read(obj, pods, provider)


def selected_labels(obj: Object) -> dict[str, str]:
    """The labels of the nodes that the main object of a deployment asks for."""
    if obj["kind"] == workspaces.KIND:
        return dict(obj["resource"]["labelSelector"].get("matchLabels") or {})
    return dict(obj["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"].get("nodeSelector") or {})
