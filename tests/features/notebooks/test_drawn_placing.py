"""What notebooks are told about where they can land, over drawn nodes, real and simulated, and drawn rivals."""

from __future__ import annotations

from random import Random

from mooring.kube.objects import Object
from mooring.testing.builders import node, pod
from mooring.testing.notebooks import notebook_job
from tests.features.notebooks.test_placing import EQUAL, EXISTS, GPU_TAINT, simulated
from tests.features.notebooks.world import NotebookWorld, PodRun
from tests.support.golden import same_as_recorded


def drawn_node(draw: Random, name: str) -> Object:
    taints = draw.choice(
        ([], [], [], [], [GPU_TAINT], ["mooring.dev/process=true:NoSchedule"], ["soon=x:PreferNoSchedule"])
    )
    labels = draw.choice(({}, {"disk": "ssd"}, {"disk": "hdd"}))
    made = node(name, cpu=draw.choice(("2", "2", "4")), gpu=draw.choice((0, 1, 2)), taints=taints, labels=labels)
    return simulated(made) if draw.random() < 0.3 else made


def drawn_job(draw: Random, name: str) -> Object:
    return notebook_job(
        name,
        cpu=draw.choice(("", "2", "2", "2", "9")),
        gpu=draw.choice((0, 0, 0, 1)),
        selector=draw.choice((None, None, None, None, {"disk": "ssd"}, {"disk": "sdd"})),
        tolerations=draw.choice(((), [EXISTS], [EQUAL])),
        timeout="2h",
    )


def told(number: int) -> str:
    draw = Random(number)
    nodes = [drawn_node(draw, f"n{each}") for each in range(draw.choice((1, 1, 2)))]
    others = [pod("web", cpu="2", node="n0")] if draw.random() < 0.3 else []
    jobs = [drawn_job(draw, f"job-{each}") for each in range(draw.choice((1, 2, 2)))]
    world = NotebookWorld(*others, *jobs, nodes=nodes, script=lambda made: PodRun(seconds=100), run=False)
    lines = []
    for seconds in (5, 30):
        world.run(seconds)
        for job in jobs:
            name = job["metadata"]["name"]
            lines.append(f"{seconds} {name} {world.phase(name)} {world.condition('Placeable', name)}")
    return "\n".join(lines)


def test_drawn_notebooks_are_told_of_their_nodes_as_before() -> None:
    same_as_recorded("notebooks-placing", {f"{number}": told(number) for number in range(16)})
