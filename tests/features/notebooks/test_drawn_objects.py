"""Jobs that are drawn around the samples, and what the API says of each."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.notebooks import notebook_job
from tests.features.drawn import World
from tests.features.notebooks.objects import node_affinity, sample
from tests.support.golden import same_as_recorded


def whole_objects() -> dict[str, Object]:
    volumes = {
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "t", "emptyDir": {}}],
        "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}],
        "env": [{"name": "A", "value": "1"}],
        "envFrom": [{"secretRef": {"name": "keys"}}],
    }
    wanted = node_affinity({"key": "gpu", "operator": "In", "values": ["h200"]})
    return {
        "full": notebook_job("full", secret="git", golden="golden.ipynb", gpu=2, timeout="45m", pod=volumes),
        "affinity": notebook_job("affinity", tolerations=["gpu=h200:NoSchedule"], selector={"a": "b"}, pod=wanted),
        "memory": sample("notebook-high-memory"),
        "tenant": sample("notebook-multi-tenant"),
    }


def test_every_drawn_job_is_answered_as_recorded() -> None:
    world = World(node("n1", labels={"team": "ml", "environment": "production"}), node("n2", labels={"a": "b"}))
    same_as_recorded("notebooks", world.every_answer(whole_objects()))
