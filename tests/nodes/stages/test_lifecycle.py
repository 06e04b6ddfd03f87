"""Stages: which one applies to an object, when, and what it makes of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.manifests import read_manifests
from mooring.nodes.stages.crd import stage_definition
from mooring.nodes.stages.kinds import WHOLE_POD, Stage
from mooring.nodes.stages.lifecycle import CompiledStage, StageError, choose, compile_stage
from mooring.nodes.stages.next_write import StageFailure, is_heartbeat, last_moment, next_write
from mooring.runtime.decision import Delete, Patch
from mooring.runtime.faults import Faults
from mooring.testing import node, pod
from mooring.testing.conditions import has_condition
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import NOON
from tests.builtin.serving import LABELS, port, service
from tests.builtin.town import Town, condition

EXAMPLES = Path(__file__).parents[3] / "examples" / "stages"
EVERYTHING: Object = {}


def stage(name: str = "s", *expressions: tuple[str, str, list[str]], kind: str = "Pod", **spec: Any) -> Object:
    """A Stage that selects by expressions, each a key with its operator and values."""
    wanted = [{"key": key, "operator": operator, "values": values} for key, operator, values in expressions]
    selector = {"matchExpressions": [{k: v for k, v in each.items() if v} for each in wanted]}
    body = {"resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": selector, "next": {}, **spec}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": body}


def setting(template: str, **more: Any) -> Object:
    return {"statusTemplate": template, **more}


def understood(obj: Object) -> CompiledStage:
    return compile_stage(msgspec.convert(obj, Stage))


def one(uid: str = "u", phase: str = "Pending", **metadata: Any) -> Object:
    found = pod("p")
    found["metadata"] |= {"uid": uid, **metadata}
    found["status"] = {"phase": phase, "conditions": [{"type": "Ready", "status": "False"}]}
    return found


EXISTS = "Exists"
READINESS = '.status.conditions.[] | select( .type == "Ready" ) | .status'
PENDING = (".status.phase", "In", ["Pending"])


@pytest.mark.parametrize(
    ("why", "selected", "expected"),
    [
        ("a value that is there", stage("s", PENDING), True),
        ("a value that is another", stage("s", (".status.phase", "In", ["Running"])), False),
        ("none of these", stage("s", (".status.phase", "NotIn", ["Running"])), True),
        ("what is not there is none of them", stage("s", (".status.podIP", "NotIn", ["x"])), True),
        ("what is not there does not exist", stage("s", (".status.podIP", "DoesNotExist", [])), True),
        ("what is there exists", stage("s", (".spec.containers", "Exists", [])), True),
        ("a label by its name", stage("s", ('.metadata.labels["a/b"]', "In", ["c"])), True),
        ("one of a list", stage("s", (READINESS, "In", ["False"])), True),
        ("a number", stage("s", (".spec.priority", "In", ["7"])), True),
        ("a truth", stage("s", (".spec.hostNetwork", "In", ["true"])), True),
        ("all must hold", stage("s", PENDING, (".status.podIP", "Exists", [])), False),
        ("labels", stage(selector={"matchLabels": {"a/b": "c"}}), True),
        ("other labels", stage(selector={"matchLabels": {"a/b": "d"}}), False),
        ("annotations", stage(selector={"matchAnnotations": {"x": "y"}}), False),
        ("everything", stage(selector=EVERYTHING), True),
        ("the newer form", stage(selector={"matchExpressions": [{"jq": {"key": ".spec", "operator": EXISTS}}]}), True),
    ],
)  # fmt: skip
def test_what_is_selected(why: str, selected: Object, expected: bool) -> None:
    found = one(labels={"a/b": "c"})
    found["spec"] |= {"priority": 7, "hostNetwork": True}
    assert understood(selected).matches(found) == expected, why


@pytest.mark.parametrize(
    ("why", "refused", "sentence"),
    [
        ("another kind", stage(kind="Job"), "spec.resourceRef: v1 Job is not driven here; v1 Pod and v1 Node are"),
        ("no selector", stage(selector=None), "spec.selector is missing, so it selects nothing; {} selects everything"),
        (
            "CEL",
            stage(selector={"matchExpressions": [{"cel": {"expression": "true"}}]}),
            "spec.selector.matchExpressions[0].cel is not understood here; write it as key, operator and values",
        ),
        (
            "an operator",
            stage("s", (".a", "Like", ["b"])),
            'spec.selector.matchExpressions[0].operator: "Like" must be one of In, NotIn, Exists, DoesNotExist',
        ),
        ("values", stage("s", (".a", "In", [])), "spec.selector.matchExpressions[0]: In needs values"),
        (
            "a query",
            stage("s", (".a | length", "Exists", [])),
            'spec.selector.matchExpressions[0].key: ".a | length" is not understood from "length" on; '
            "paths and select() are",
        ),
        (
            "a function",
            stage(next=setting("a: {{ frobnicate . }}")),
            'spec.next.statusTemplate: line 1: the function "frobnicate" is not known here',
        ),
        (
            "an action",
            stage(next=setting("a: 1\n{{ if .a }}")),
            "spec.next.statusTemplate: an if, with or range is not closed with end",
        ),
        (
            "a patch",
            stage(next={"patches": [{"type": "apply", "template": ""}]}),
            'spec.next.patches[0].type: "apply" must be one of strategic, merge, json',
        ),
        (
            "a subresource",
            stage(next={"patches": [{"subresource": "scale", "template": ""}]}),
            'spec.next.patches[0].subresource: "scale" is not patched here; status is, and the object itself',
        ),
        (
            "another object",
            stage(steps=[{"apply": {"template": "x"}}]),
            "spec.steps[0].apply is not understood here; a Stage changes only the object it selects",
        ),
    ],
)
def test_what_is_not_understood_is_refused_with_a_sentence(why: str, refused: Object, sentence: str) -> None:
    with pytest.raises(StageError) as error:
        understood(refused)
    assert str(error.value) == sentence, why


def weighted(*weights: int) -> list[CompiledStage]:
    return [understood(stage(f"s{n}", selector=EVERYTHING, weight=weight)) for n, weight in enumerate(weights)]


def test_of_several_one_is_drawn_by_weight_and_always_the_same_for_one_object() -> None:
    stages = weighted(1, 3, 0)
    drawn = [choose(stages, one(f"uid-{n}")) for n in range(400)]
    names = [each.name for each in drawn if each is not None]
    assert drawn == [choose(stages, one(f"uid-{n}")) for n in range(400)]
    assert 60 < names.count("s0") < 140
    assert names.count("s2") == 0


def test_without_weights_all_are_alike_and_the_object_may_say_otherwise() -> None:
    names = {found.name for n in range(50) if (found := choose(weighted(0, 0), one(f"uid-{n}"))) is not None}
    assert names == {"s0", "s1"}
    said = stage("said", selector=EVERYTHING, weightFrom={"expressionFrom": '.metadata.annotations["w"]'})
    found = choose([*weighted(0), understood(said)], one(annotations={"w": "9"}))
    assert found is not None
    assert found.name == "said"


@pytest.mark.parametrize(
    ("why", "delay", "seconds"),
    [
        ("at once", {}, (0, 0)),
        ("after a while", {"durationMilliseconds": 1500}, (1.5, 1.5)),
        ("somewhere in between", {"durationMilliseconds": 1000, "jitterDurationMilliseconds": 5000}, (1, 5)),
        ("the shorter one", {"durationMilliseconds": 5000, "jitterDurationMilliseconds": 1000}, (1, 1)),
        ("as the object says", {"durationFrom": {"expressionFrom": '.metadata.annotations["delay"]'}}, (90, 90)),
        (
            "as nobody says",
            {"durationMilliseconds": 7000, "durationFrom": {"expressionFrom": ".metadata.annotations.none"}},
            (7, 7),
        ),
        ("up to a moment", {"durationFrom": {"jq": {"expression": ".metadata.deletionTimestamp"}}}, (30, 30)),
    ],
)
def test_when_it_is_due(why: str, delay: Object, seconds: tuple[float, float]) -> None:
    deleted = "2026-01-01T12:00:30Z"
    played = understood(stage(selector=EVERYTHING, delay=delay))
    waits = [
        (played.due(one(f"uid-{n}", annotations={"delay": "1m30s"}, deletionTimestamp=deleted), NOON) - NOON)
        for n in range(30)
    ]
    assert min(waits) >= timedelta(seconds=seconds[0]), why
    assert max(waits) <= timedelta(seconds=seconds[1]), why
    assert (len(set(waits)) > 10) == (seconds[0] != seconds[1]), why


ENVIRONMENT: dict[str, Any] = {"Now": lambda: "2026-01-01T12:00:00Z"}


def write(obj: Object, found: Object) -> Any:
    following = next_write(understood(obj), found, WHOLE_POD, ENVIRONMENT)
    return None if following is None else following.write


def test_conditions_are_merged_by_type_and_other_lists_replaced() -> None:
    found = one()
    found["status"]["containerStatuses"] = [{"name": "old"}]
    template = """
conditions:
- {type: Ready, status: "True"}
- {type: Initialized, status: "True"}
containerStatuses:
- {name: new}
"""
    patch = write(stage(next=setting(template)), found)
    assert isinstance(patch, Patch)
    assert patch.subresource == "status"
    assert patch.body["status"] == {
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}],
        "containerStatuses": [{"name": "new"}],
    }


def test_a_key_without_a_value_is_taken_away() -> None:
    found = one()
    found["status"]["reason"] = "Evicted"
    assert write(stage(next=setting("reason:\nphase: Pending")), found).body == {"status": {"reason": None}}


@pytest.mark.parametrize(
    ("patch", "body"),
    [
        ({"root": "metadata", "template": "labels: {x: z}"}, {"metadata": {"labels": {"x": "z"}}}),
        ({"type": "merge", "template": "metadata: {labels: {x: z}}"}, {"metadata": {"labels": {"x": "z"}}}),
        (
            {"type": "json", "root": "metadata", "template": "[{op: add, path: /labels, value: {x: z}}]"},
            {"metadata": {"labels": {"x": "z"}}},
        ),
    ],
)
def test_the_object_itself_can_be_changed_in_three_ways(patch: Object, body: Object) -> None:
    assert write(stage(next={"patches": [patch]}), one()).body == body


def test_what_is_not_status_comes_first_and_the_status_when_that_is_done() -> None:
    both = stage(
        next={
            "event": {"type": "Warning", "reason": "R", "message": "m"},
            "finalizers": {"add": [{"value": "f/x"}]},
            "patches": [{"subresource": "status", "root": "status", "template": "phase: Running"}],
        }
    )
    first = next_write(understood(both), one(), WHOLE_POD, ENVIRONMENT)
    assert first is not None
    assert isinstance(first.write, Patch)
    assert (first.write.body, first.events) == ({"metadata": {"finalizers": ["f/x"]}}, ())
    second = next_write(understood(both), one(finalizers=["f/x"]), WHOLE_POD, ENVIRONMENT)
    assert second is not None
    assert isinstance(second.write, Patch)
    assert second.write.body == {"status": {"phase": "Running"}}
    assert [(event.type, event.reason) for event in second.events] == [("Warning", "R")]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"empty": True}, None),
        ({"remove": [{"value": "a"}]}, ["b"]),
        ({"add": [{"value": "c"}], "remove": [{"value": "b"}]}, ["a", "c"]),
    ],
)
def test_finalizers_come_and_go(change: Object, after: list[str] | None) -> None:
    patch = write(stage(next={"finalizers": change}), one(finalizers=["a", "b"]))
    assert patch.body == {"metadata": {"finalizers": after}}


def test_an_object_is_deleted_once_its_finalizers_are_gone() -> None:
    doomed = stage(next={"finalizers": {"empty": True}, "delete": True})
    assert isinstance(write(doomed, one(finalizers=["a"])), Patch)
    assert write(doomed, one()) == Delete(WHOLE_POD, write(doomed, one()).key, grace=0)


def test_an_object_that_is_as_it_should_be_is_left_alone() -> None:
    assert write(stage(next=setting("phase: Pending")), one()) is None


def test_steps_are_the_newer_form_of_next() -> None:
    newer = stage(steps=[{"patch": {"subresource": "status", "root": "status", "template": "phase: Running"}}])
    assert write(newer, one()).body == {"status": {"phase": "Running"}}


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("a: {{ index .spec.containers 5 }}", "line 1: index 5 is out of range of 1 items"),
        ("- a\nb: c", "not YAML"),
        ("just text", "its template makes no object"),
    ],
)
def test_a_template_that_fails_on_an_object_says_so(template: str, part: str) -> None:
    with pytest.raises(StageFailure, match="Stage s cannot be applied") as error:
        write(stage(next=setting(template)), one())
    assert part in str(error.value)


def test_a_heartbeat_changes_nothing_but_moments() -> None:
    found = one()
    found["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-01T11:00:00Z"
    beat = 'conditions: [{type: Ready, status: "False", lastHeartbeatTime: {{ Now | Quote }}}]'
    assert is_heartbeat(understood(stage(next=setting(beat))), found, ENVIRONMENT)
    assert not is_heartbeat(understood(stage(next=setting("phase: Running"))), found, ENVIRONMENT)


def test_an_object_tells_since_when_it_is_as_it_is() -> None:
    found = one(creationTimestamp="2026-01-01T10:00:00Z")
    found["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T11:00:00Z"
    assert last_moment(found) == moment("2026-01-01T11:00:00Z")
    found["metadata"] |= {"deletionTimestamp": "2026-01-01T12:00:30Z", "deletionGracePeriodSeconds": 30}
    assert last_moment(found) == moment("2026-01-01T12:00:00Z")


# At work


def staged(*objects: Object, stages: list[Object], **options: Any) -> Town:
    return Town(*objects, controllers=whole_control_plane(), before=(stage_definition(), *stages), **options)


def example(name: str) -> list[Object]:
    return [document.value for document in read_manifests(EXAMPLES / f"{name}.yaml")]


def labelled(name: str, value: str) -> Object:
    return pod(name, labels={"stage": value, **LABELS})


def phase(town: Town, name: str = "p") -> str:
    found = town.get("Pod", name)
    return "" if found is None else str(found["status"]["phase"])


def container(town: Town, name: str = "p") -> Object:
    found = town.get("Pod", name)
    assert found is not None
    status: Object = found["status"]["containerStatuses"][0]
    return status


def test_where_no_stage_matches_it_goes_on_as_on_any_node() -> None:
    town = staged(node("a"), pod("p"), stages=[stage("s", ('.metadata.labels["x"]', "Exists", []))], settled=True)
    assert phase(town) == "Running"
    assert town.elapsed() == 1
    town.delete("Pod", "p")
    town.run()
    assert town.get("Pod", "p") is None


def test_a_pod_that_a_stage_has_begun_goes_on_with_a_stage_or_not_at_all() -> None:
    stuck = stage(
        "s", (".status.containerStatuses", "DoesNotExist", []),
        next=setting("containerStatuses: [{name: main, image: x, imageID: '', ready: false, restartCount: 0, "
                     "state: {waiting: {reason: ErrImagePull}}}]"),
    )  # fmt: skip
    town = staged(node("a"), pod("p"), stages=[stuck], settled=True)
    assert phase(town) == "Pending"
    assert container(town)["state"] == {"waiting": {"reason": "ErrImagePull"}}


def test_a_stage_tells_whether_it_is_used() -> None:
    town = staged(stages=[stage("good", PENDING), stage("bad", kind="Job")], settled=True)
    assert has_condition(town.get("Stage", "good"), "Used")
    told = condition(town.get("Stage", "bad"), "Used")
    assert (told["status"], told["message"]) == (
        "False",
        "spec.resourceRef: v1 Job is not driven here; v1 Pod and v1 Node are",
    )
    assert town.events("StageNotUsed") == [told["message"]]


def test_a_stage_that_fails_on_a_pod_is_told_of_once_and_the_pod_waits() -> None:
    failing = stage("s", PENDING, next=setting("a: {{ index .spec.containers 9 }}"))
    town = staged(node("a"), pod("p"), stages=[failing], settled=True)
    assert town.events("StageFailed") == ["Stage s cannot be applied: line 1: index 9 is out of range of 1 items"]
    assert phase(town) == "Pending"


def test_stages_that_come_later_are_followed() -> None:
    town = staged(node("a"), pod("p"), stages=[], settled=True)
    town.create(stage("s", (".status.phase", "In", ["Running"]), delay={"durationMilliseconds": 5000},
                      next=setting("phase: Failed")))  # fmt: skip
    town.run()
    assert phase(town) == "Failed"
    # A delay counts from when the pod came to be as it is, for one that was never looked at.
    assert town.elapsed() == 6


def test_a_label_that_comes_later_starts_the_delay() -> None:
    fails = stage("s", ('.metadata.labels["fail"]', "Exists", []), delay={"durationMilliseconds": 5000},
                  next=setting("phase: Failed"))  # fmt: skip
    town = staged(node("a"), pod("p"), stages=[fails], settled=True)
    town.run(60)
    town.simulation.now += timedelta(seconds=60)
    town.patch("Pod", "p", {"metadata": {"labels": {"fail": "yes"}}})
    town.run()
    assert town.elapsed() == 66


def test_a_slow_image_pull() -> None:
    town = staged(node("a"), labelled("p", "slow-image-pull"), stages=example("slow-image-pull"))
    town.run(20)
    assert phase(town) == "Pending"
    assert container(town)["state"] == {"waiting": {"reason": "ContainerCreating"}}
    town.run()
    assert phase(town) == "Running"
    assert 30 <= town.elapsed() <= 60
    assert (town.events("Pulling"), town.events("Pulled")) == (["Pulling images"], ["Successfully pulled images"])
    found = town.get("Pod", "p")
    assert found is not None
    assert found["status"]["podIP"].startswith("10.244.0.")


def waiting_for(town: Town) -> str:
    return str(container(town)["state"]["waiting"]["reason"])


def test_an_image_that_cannot_be_pulled() -> None:
    town = staged(node("a"), labelled("p", "image-pull-back-off"), stages=example("image-pull-back-off"))
    reasons = []
    for _ in range(4):
        town.run(10)
        reasons.append(waiting_for(town))
    assert reasons == ["ErrImagePull", "ImagePullBackOff", "ImagePullBackOff", "ErrImagePull"]
    assert (
        container(town)["state"]["waiting"]["message"]
        == 'failed to pull image "registry.example.com/main:1": not found'
    )
    town.patch("Pod", "p", {"metadata": {"annotations": {"example.com/image": "present"}}})
    town.run()
    assert phase(town) == "Running"
    assert town.elapsed() == 41


def test_a_crash_loop_backs_off() -> None:
    town = staged(node("a"), labelled("p", "crash-loop"), stages=example("crash-loop"))
    town.run(6)
    assert container(town)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container(town)["restartCount"] == 0
    town.run(10)
    assert (container(town)["restartCount"], "running" in container(town)["state"]) == (1, True)
    town.run(5 + 19)
    assert "waiting" in container(town)["state"]
    town.run(1)
    assert container(town)["restartCount"] == 2
    assert container(town)["lastState"]["terminated"]["exitCode"] == 1
    found = town.get("Pod", "p")
    assert found is not None
    assert found["metadata"]["annotations"] == {"example.com/back-off": "20s"}


def test_a_slow_start() -> None:
    town = staged(node("a"), labelled("p", "slow-start"), service(port(80)), stages=example("slow-start"))
    town.run(20)
    assert (phase(town), condition(town.get("Pod", "p"), "Ready")["status"]) == ("Running", "False")
    endpoints = town.get("Endpoints", "web")
    assert endpoints is not None
    assert list(endpoints["subsets"][0]) == ["notReadyAddresses", "ports"]
    town.run()
    assert has_condition(town.get("Pod", "p"), "Ready")


def test_a_failing_readiness_probe() -> None:
    town = staged(node("a"), labelled("p", "failing-readiness"), service(port(80)), stages=example("failing-readiness"))
    readiness = []
    for _ in range(10):
        town.run(10)
        readiness.append(condition(town.get("Pod", "p"), "Ready")["status"])
    assert readiness == ["True", "True", "False", "False", "False", "True", "True", "False", "False", "False"]


def test_a_node_that_is_lost() -> None:
    lost = node("a", labels={"stage": "lost"})
    town = staged(lost, node("b"), pod("p", nodeName="a"), stages=example("node-loss"))
    town.run(60)
    assert has_condition(town.get("Node", "a"), "Ready")
    town.run(60)
    assert has_condition(town.get("Node", "a"), "Ready", "Unknown")
    town.run()
    found = town.get("Pod", "p")
    assert found is not None
    assert "deletionTimestamp" in found["metadata"]


def test_a_node_that_flaps() -> None:
    town = staged(node("a", labels={"stage": "flapping"}), node("b"), stages=example("node-loss"))
    readiness = []
    for _ in range(6):
        town.run(30)
        readiness.append(condition(town.get("Node", "a"), "Ready")["status"])
    assert readiness == ["True", "False", "True", "True", "False", "True"]


@pytest.mark.parametrize("name", ["slow-image-pull", "slow-start"])
def test_any_crash_ends_in_the_same_place(name: str) -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        for obj in (node("a"), labelled("p", name)):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)

    controllers = [
        c for c in whole_control_plane() if c.name in ("nodes", "stages", "scheduler", "node-lifecycle", "node-ipam")
    ]
    assert survives_every_crash(controllers, populate, before=(stage_definition(), *example(name))) > 8


@pytest.mark.parametrize("seed", range(12))
def test_with_faults_stages_lead_to_the_same_end(seed: int) -> None:
    pods = [labelled(f"p{number}", name) for number, name in enumerate(("slow-image-pull", "slow-start", "none"))]
    stages = [*example("slow-image-pull"), *example("slow-start")]
    town = staged(node("a"), *pods, stages=stages, seed=seed, faults=Faults.everything(0.08))
    town.run(120)
    town.simulation.quiet()
    town.run()
    assert {phase(town, f"p{number}") for number in range(3)} == {"Running"}
    addresses = {found["status"]["podIP"] for found in town.all("Pod")}
    assert len(addresses) == 3
    assert all(has_condition(found, "Ready") for found in town.all("Pod"))
