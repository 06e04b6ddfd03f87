"""What tests are written with, here and in projects that build on Mooring: builders of objects, and verbs about them.

scene = cluster(node("gpu-1", gpu=8, taints=["nvidia.com/gpu=present:NoSchedule"]))
trainer = pod("trainer", gpu=1)
assert pending_because(scene, trainer) == "..."
assert advised(scene, trainer)[0].title == "Tolerate taint nvidia.com/gpu=present:NoSchedule"
"""

from mooring.testing.builders import deployment, node, pod, taint, toleration
from mooring.testing.conditions import has_condition
from mooring.testing.verbs import Scene, advised, cluster, pending_because, placed_on

__all__ = [
    "Scene",
    "advised",
    "cluster",
    "deployment",
    "has_condition",
    "node",
    "pending_because",
    "placed_on",
    "pod",
    "taint",
    "toleration",
]
