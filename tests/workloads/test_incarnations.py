"""Names of pods: a decision that is repeated names the same pods, and no name is ever used twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mooring.api.apps.views import ReplicaSet
from mooring.api.core.views import Pod, PodMeta, PodStatus
from mooring.api.kinds import Key
from mooring.api.meta import AnnotatedMeta
from mooring.builtin.apps.daemonset.controller import CONTROLLER as DAEMON_SETS
from mooring.builtin.apps.daemonset.nodes import NODES
from mooring.builtin.apps.replicaset.controller import CONTROLLER as REPLICA_SETS
from mooring.builtin.batch.job.controller import CONTROLLER as JOB_CONTROLLER
from mooring.kube.objects import Object
from mooring.kube.patches.merge import merge_patch
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing import node
from mooring.testing.controllers import whole_control_plane
from mooring.testing.views import NOON, view_of
from mooring.workloads.incarnations import RECORD, Incarnations, Issued, number_of, suffix
from tests.builtin.town import Town

LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}
NAMESPACE = {"namespace": "default"}


def owner(record: int = 0) -> ReplicaSet:
    return ReplicaSet(metadata=AnnotatedMeta(name="web", uid="u", annotations={RECORD: str(record)}))


def pods(*numbers: int, phase: str = "Running") -> list[Pod]:
    return [Pod(metadata=PodMeta(name=f"web-{suffix('u', n)}"), status=PodStatus(phase=phase)) for n in numbers]


@given(st.text(min_size=1), st.integers(0, 14_348_906), st.integers(0, 14_348_906))
def test_every_number_has_a_suffix_of_its_own(uid: str, one: int, other: int) -> None:
    assert number_of(uid, f"web-{suffix(uid, one)}") == one
    assert (suffix(uid, one) == suffix(uid, other)) == (one == other)


CASES = {
    "first pods need no record": (owner(), [], None, 0, 0),
    "pods that stay need none either": (owner(), pods(0, 1, 2), Issued(0, 3), 0, 0),
    "a creation that was cut off is repeated": (owner(), pods(0, 2), None, 0, 0),
    "a pod that ends spends all numbers up to now": (owner(), [*pods(0, 1), *pods(2, phase="Failed")], None, 0, 3),
    "one that ended before spends none": (owner(3), [*pods(1, phase="Failed"), *pods(3)], None, 0, 3),
    "one that was handed out and is gone spends all": (owner(), pods(0, 1), Issued(0, 3), 0, 3),
    "one that the status counts and is gone spends all that may have been used": (owner(), pods(0, 1), None, 1, 3),
    "names that somebody made up are no numbers": (owner(), pods(9_000_000, phase="Failed"), None, 0, 0),
    "a record that was taken off is written again": (owner(), pods(7), Issued(7, 8), 0, 7),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_record_is_raised(case: tuple[ReplicaSet, list[Pod], Issued | None, int, int]) -> None:
    found, there, known, uncounted, record = case
    names = Incarnations(found, there, 3, known, uncounted)
    assert names.issued.record == record


class Life(RuleBasedStateMachine):
    """One owner, whose controller may die before any write and forget everything, and pods that leave in every way."""

    controller: Controller
    kind: str

    def owner(self) -> Object:
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.objects: dict[tuple[str, str], Object] = {}
        self.memory: Any = None
        self.ever: set[str] = set()
        self.wanted = self.most = 3
        for number in range(4):
            self.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}})
        self.put(self.owner())

    def put(self, obj: Object) -> None:
        meta = obj["metadata"]
        obj = {**obj, "metadata": {"uid": f"uid of {meta['name']}", **meta}}
        self.objects[obj["kind"], meta["name"]] = obj

    def pods(self) -> list[Object]:
        return [obj for (kind, _), obj in sorted(self.objects.items()) if kind == "Pod"]

    def decide(self, problem: str = "") -> Decision:
        view = view_of(self.objects.values(), memory=self.memory, folds=(NODES,), problem=problem)
        return self.controller.reconcile(Key("default", "web"), view, NOON)

    def carry_out(self, decision: Decision, limit: int = 1000) -> None:
        writes = [write for stage in decision.stages for write in stage]
        for write in writes[:limit]:
            name = (write.kind.kind, write.key.name)
            match write:
                case Create(object=obj):
                    assert name not in self.objects, f"{name} exists already"
                    if name[0] == "Pod":
                        assert name[1] not in self.ever, f"{name[1]} has been used before"
                        self.ever.add(name[1])
                    self.put({"apiVersion": write.kind.api_version, "kind": write.kind.kind, **obj})
                case Patch(body=body):
                    self.objects[name] = merge_patch(self.objects[name], body)
                    self.collect(name)
                case Delete():
                    self.leave(name)
                case _:
                    raise AssertionError(write)

    def leave(self, name: tuple[str, str]) -> None:
        meta = self.objects[name]["metadata"]
        meta["deletionTimestamp"] = "2026-01-01T12:00:00Z"

    def collect(self, name: tuple[str, str]) -> None:
        meta = self.objects[name]["metadata"]
        if meta.get("deletionTimestamp") and not meta.get("finalizers"):
            del self.objects[name]

    def settle(self) -> None:
        """The controller runs until it has seen what it wrote and says nothing new."""
        for _ in range(30):
            decision = self.decide()
            self.carry_out(decision)
            self.memory = decision.memory
            if decision.empty:
                self.most = max(self.wanted, 4)
                return
        raise AssertionError("nothing settles")

    @rule(limit=st.integers(0, 12))
    def the_controller_dies_at_work(self, limit: int) -> None:
        self.carry_out(self.decide(), limit)
        self.memory = None
        # It is back before anything else happens: a pod that nobody has seen could not be told from one never made.
        self.settle()

    @rule()
    def the_controller_works(self) -> None:
        self.settle()

    @rule()
    def the_controller_forgets(self) -> None:
        self.settle()
        self.memory = None

    @rule(wanted=st.integers(0, 6))
    def it_is_scaled(self, wanted: int) -> None:
        self.wanted, self.most = wanted, max(wanted, self.most)
        found = self.objects[self.kind, "web"]
        self.objects[self.kind, "web"] = merge_patch(found, {"spec": self.owner()["spec"]})

    @rule(data=st.data(), how=st.sampled_from(["ends", "is deleted", "is gone"]))
    def a_pod(self, data: st.DataObject, how: str) -> None:
        if not self.pods():
            return
        chosen = data.draw(st.sampled_from(self.pods()))
        name = ("Pod", chosen["metadata"]["name"])
        if how == "ends":
            chosen["status"] = {"phase": "Failed"}
            return
        self.leave(name)
        if how == "is gone":
            self.collect(name)

    @rule()
    def what_was_deleted_is_gone(self) -> None:
        for pod in self.pods():
            if pod["metadata"].get("deletionTimestamp"):
                self.collect(("Pod", pod["metadata"]["name"]))

    @invariant()
    def there_are_never_more_pods_than_wanted(self) -> None:
        if self.kind != "DaemonSet":
            staying = [p for p in self.pods() if not p["metadata"].get("deletionTimestamp") and not p.get("status")]
            assert len(staying) <= self.most


class ReplicaSetLife(Life):
    controller, kind = REPLICA_SETS, "ReplicaSet"

    def owner(self) -> Object:
        spec = {"replicas": self.wanted, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
        return {"apiVersion": "apps/v1", "kind": self.kind, "metadata": {"name": "web", **NAMESPACE}, "spec": spec}


class DaemonSetLife(Life):
    controller, kind = DAEMON_SETS, "DaemonSet"

    def owner(self) -> Object:
        # Scaling it is another template, or one from before.
        template = {**TEMPLATE, "spec": {"containers": [{"name": "main", "image": f"web:{self.wanted}"}]}}
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "maxSurge": 0}}
        spec = {"selector": {"matchLabels": LABELS}, "template": template, "updateStrategy": strategy}
        return {"apiVersion": "apps/v1", "kind": self.kind, "metadata": {"name": "web", **NAMESPACE}, "spec": spec}


class JobLife(Life):
    controller, kind = JOB_CONTROLLER, "Job"

    def owner(self) -> Object:
        spec = {
            "parallelism": self.wanted,
            "completions": 50,
            "backoffLimit": 1000,
            "selector": {"matchLabels": LABELS},
            "template": TEMPLATE,
            "podReplacementPolicy": "TerminatingOrFailed",
        }
        return {"apiVersion": "batch/v1", "kind": self.kind, "metadata": {"name": "web", **NAMESPACE}, "spec": spec}


class IndexedJobLife(JobLife):
    def owner(self) -> Object:
        job = super().owner()
        return {**job, "spec": {**job["spec"], "completionMode": "Indexed"}}


STORIES = settings(max_examples=25, stateful_step_count=15, deadline=None)
for life in (ReplicaSetLife, DaemonSetLife, JobLife, IndexedJobLife):
    life.TestCase.settings = STORIES
TestNoNameOfAReplicaSetComesBack = ReplicaSetLife.TestCase
TestNoNameOfADaemonSetComesBack = DaemonSetLife.TestCase
TestNoNameOfAJobComesBack = JobLife.TestCase
TestNoNameOfAnIndexedJobComesBack = IndexedJobLife.TestCase


@pytest.mark.parametrize("life", [ReplicaSetLife, DaemonSetLife])
def test_pods_that_are_refused_keep_their_names(life: type[Life]) -> None:
    """A name that was not used is not spent: each try would write the owner, and wake itself by it."""
    owner = life()
    owner.begin()
    asked: list[tuple[str, ...]] = []
    problem = ""
    for _ in range(9):
        decision = owner.decide(problem)
        owner.memory = decision.memory
        if names := tuple(write.key.name for write in decision.children if isinstance(write, Create)):
            asked.append(names)
            # The failure of one stage stops the later ones.
            decision = decision._replace(children=(), status=(), release=())
        problem = "no more pods" if names else ""
        owner.carry_out(decision)
    assert len(asked) > 3
    assert len(set(asked)) == 1
    assert RECORD not in owner.objects[life.kind, "web"]["metadata"].get("annotations", {})


def test_a_pod_that_replaces_another_has_a_name_and_events_of_its_own() -> None:
    labels = {"app": "web"}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": TEMPLATE}
    web = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", **NAMESPACE}, "spec": spec}
    place = Town(node("a"), web, controllers=whole_control_plane(), settled=True)
    used: set[str] = set()
    for _ in range(3):
        names = {found["metadata"]["name"] for found in place.all("Pod")}
        assert len(names) == 2
        new = names - used
        assert new
        used |= names
        place.delete("Pod", min(new))
        place.run()
    about = [event["involvedObject"]["name"] for event in place.all("Event") if event["reason"] == "Started"]
    assert len(about) == len(set(about)) == len(used | {found["metadata"]["name"] for found in place.all("Pod")})
