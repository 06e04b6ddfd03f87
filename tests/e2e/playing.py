"""Plays a story in two clusters at once, and compares them wherever the story says that they must be the same."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml

from mooring.kube.objects import Object
from mooring.nodes.storage.default_class import default_class
from mooring.testing.builders import node
from mooring.testing.conditions import has_condition
from mooring.testing.homes import HOMES, REAL, Home, whole
from mooring.testing.http import Api
from mooring.testing.processes import free_port
from tests.e2e.town import Town

# A yield may name kinds that are not compared at that point.
Story = Callable[[Town], Iterator[tuple[str, ...] | None]]

SERVED = ("/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",)
DEFINITIONS = Path(__file__).parents[2] / "config" / "crd"
# How long the last word of a controller may take, once all that a story waits for is there.
SETTLING = 30.0
LOST = "mooring.test/lost=true:NoSchedule"
NODES = [*(node(f"n{number}") for number in range(1, 4)), node("lost", taints=[LOST])]


class Both:
    """The two clusters."""

    def __init__(self, homes: Sequence[tuple[Home, Api]]) -> None:
        self._homes = homes

    def play(self, story: Story) -> None:
        name = story.__name__.replace("_", "-")[:63].strip("-")
        with ThreadPoolExecutor(len(self._homes)) as pool:
            towns = list(pool.map(lambda each: Town(each[0], each[1], name), self._homes))
            tellings = [story(town) for town in towns]
            scene = 0
            while True:
                scene += 1
                left_out = list(pool.map(lambda telling: next(telling, "the end"), tellings))
                if "the end" in left_out:
                    assert set(left_out) == {"the end"}
                    return
                compare(towns, scene, leave_out=tuple(left_out[0] or ()))


def compare(towns: Sequence[Town], scene: int, *, leave_out: tuple[str, ...]) -> None:
    end = time.monotonic() + SETTLING
    while True:
        ours, real = (town.observed_state(leave_out=leave_out) for town in towns)
        if ours == real:
            return
        if time.monotonic() > end:
            raise AssertionError(f"scene {scene} ends differently (- embedded, + real):\n{difference(ours, real)}")
        time.sleep(0.25)


def difference(ours: Object, real: Object) -> str:
    before, after = (yaml.safe_dump(each, sort_keys=True, width=160).splitlines() for each in (ours, real))
    return "\n".join(difflib.unified_diff(before, after, "embedded", "real", lineterm="", n=6))


@contextmanager
def both(folder: Path) -> Iterator[Both]:
    """Both clusters with the same simulated nodes and the same kinds of our own, ready."""
    with ExitStack() as stack:
        # Beside a real control plane everything of ours runs that Kubernetes does not have.
        run_arguments = ("--webhook-url", f"https://127.0.0.1:{free_port()}")
        homes = [stack.enter_context(whole(name, folder / name, NODES, run_arguments=run_arguments)) for name in HOMES]
        apis = [stack.enter_context(home.api()) for home in homes]
        for home, api in zip(homes, apis, strict=True):
            if home.name == REAL:
                _define_our_kinds(api)
                assert api.post("/apis/storage.k8s.io/v1/storageclasses", default_class()).code == 201
            _wait_for_nodes(api)
        yield Both(list(zip(homes, apis, strict=True)))


def _define_our_kinds(api: Api) -> None:
    """As `kubectl apply --server-side -f config/crd` does; and the API server knows whom to ask about them."""
    for file in sorted(DEFINITIONS.glob("*.yaml")):
        definition = yaml.safe_load(file.read_text(encoding="utf-8"))
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
        answer = api.patch(path, "apply", definition, fieldManager="kubectl")
        assert answer.code == 201, answer.body
    registered = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mooring"
    end = time.monotonic() + 60
    while not all(api.get(path).code == 200 for path in (registered, *SERVED)):
        assert time.monotonic() < end, "our webhooks were not registered, or our kinds not served, in 60 s"
        time.sleep(0.2)


def _wait_for_nodes(api: Api) -> None:
    end = time.monotonic() + 60
    while True:
        items = api.get("/api/v1/nodes").body["items"]
        if sum(_is_ready(item) for item in items) >= len(NODES):
            return
        assert time.monotonic() < end, [item["status"] for item in items]
        time.sleep(0.2)


def _is_ready(item: Object) -> bool:
    keys = {taint["key"] for taint in item["spec"].get("taints") or ()}
    return has_condition(item, "Ready") and "node.kubernetes.io/not-ready" not in keys
