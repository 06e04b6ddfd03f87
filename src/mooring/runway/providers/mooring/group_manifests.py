"""The groups of pods that serve a model which no single node holds: a leader and its workers, each with all its GPUs.

vLLM finds the pods of its group by what every one of them is told: its index, the size, and the leader's address.
"""

from __future__ import annotations

from typing import Any, Final

from mooring.features.groups.api import API_VERSION, KIND, NAME, WORKER_INDEX
from mooring.kube.objects import Object
from mooring.runway.deployments.config import GPU_RESOURCE, DeploymentConfig
from mooring.runway.providers.labels import metadata
from mooring.runway.providers.pod_templates import vllm_arguments, vllm_template
from mooring.runway.providers.workspace_manifests import GPU_NODES, vllm_service

__all__ = ["GROUP_IMAGE", "group_service", "leader_worker_set"]

# The first version whose groups need no Ray.
GROUP_IMAGE: Final = "docker.io/vllm/vllm-openai:v0.12.0"
_TOLERATIONS: Final = [{"key": GPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}]


def leader_worker_set(config: DeploymentConfig) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata(config),
        "spec": {
            "replicas": config.replicas,
            "leaderWorkerTemplate": {
                "size": config.nodes,
                "restartPolicy": "RecreateGroupOnPodRestart",
                "leaderTemplate": _template(config, leads=True),
                "workerTemplate": _template(config, leads=False),
            },
        },
    }


def group_service(config: DeploymentConfig) -> Object:
    """Leaders answer; workers have no port."""
    return vllm_service(config, {NAME: config.name, WORKER_INDEX: "0"})


def _template(config: DeploymentConfig, *, leads: bool) -> Object:
    template = vllm_template(config, GROUP_IMAGE)
    spec: dict[str, Any] = template["spec"]
    (container,) = spec["containers"]
    place = {
        "--pipeline-parallel-size": str(config.nodes),
        "--nnodes": "$(LWS_GROUP_SIZE)",
        "--node-rank": "$(LWS_WORKER_INDEX)",
        "--master-addr": "$(LWS_LEADER_ADDRESS)",
    }
    arguments = [config.model_id, *vllm_arguments(config), *(each for flag in place.items() for each in flag)]
    container |= {"command": ["vllm", "serve"], "args": arguments if leads else [*arguments, "--headless"]}
    if not leads:
        for field in ("ports", "livenessProbe", "readinessProbe"):
            del container[field]
    spec |= {"nodeSelector": dict(config.label_selector or GPU_NODES), "tolerations": list(_TOLERATIONS)}
    return {"metadata": {"labels": metadata(config)["labels"]}, "spec": spec}
