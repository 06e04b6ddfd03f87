"""A scheduling policy is written into both pod templates, so that a controller that knows none carries it on."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.groups.api import UNIQUE_SELECTOR, UNIQUE_TOLERATION_EFFECT, UNIQUE_TOLERATION_KEY
from mooring.features.groups.policy_webhook import POLICY_WEBHOOK
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from mooring.testing.webhooks import admitted, patched_to, review
from tests.features.groups.cases import pods

KEY = "example.com/node-group"
ASKED = {UNIQUE_SELECTOR: KEY, UNIQUE_TOLERATION_KEY: KEY, UNIQUE_TOLERATION_EFFECT: "NoSchedule"}


def templates(**annotations: str) -> Object:
    """Templates of leaders and workers, with these annotations."""
    metadata = {"metadata": {"annotations": annotations}} if annotations else {}
    return {name: metadata | pods() for name in ("leaderTemplate", "workerTemplate")}


def written(lws: Object) -> list[Object]:
    """Those of the leader template, if there is one, and of the worker template."""
    template = lws["spec"]["leaderWorkerTemplate"]
    found = [template[name] for name in ("leaderTemplate", "workerTemplate") if name in template]
    return [each.get("metadata", {}).get("annotations", {}) for each in found]


def test_both_templates_carry_what_the_policy_asks_for() -> None:
    made = patched_to(POLICY_WEBHOOK, review(leader_worker_set(unique=KEY, template=templates(note="kept"))))
    assert written(made) == [{"note": "kept", **ASKED}] * 2
    assert made["spec"]["leaderWorkerTemplate"]["schedulingPolicy"]["replicaUniqueNodeSelector"] == KEY


def test_without_a_template_of_its_own_the_leader_has_that_of_the_workers() -> None:
    made = patched_to(POLICY_WEBHOOK, review(leader_worker_set(unique=KEY)))
    assert written(made) == [ASKED]
    assert "leaderTemplate" not in made["spec"]["leaderWorkerTemplate"]


def test_the_policy_overrules_what_stands_in_a_template() -> None:
    made = patched_to(
        POLICY_WEBHOOK, review(leader_worker_set(unique=KEY, template=templates(**{UNIQUE_SELECTOR: "b"})))
    )
    assert written(made) == [ASKED] * 2


@pytest.mark.parametrize("policy", [None, {}, {"replicaUniqueNodeSelector": ""}])
def test_who_asks_for_nothing_gets_nothing(policy: Object | None) -> None:
    plain = leader_worker_set(template={**templates(**{UNIQUE_SELECTOR: "by-hand"}), "schedulingPolicy": policy})
    assert patched_to(POLICY_WEBHOOK, review(plain)) == plain


def test_a_policy_that_goes_takes_its_annotations_with_it() -> None:
    old = patched_to(POLICY_WEBHOOK, review(leader_worker_set(unique=KEY, template=templates(note="kept"))))
    template = dict(old["spec"]["leaderWorkerTemplate"])
    del template["schedulingPolicy"]
    new = {**old, "spec": {**old["spec"], "leaderWorkerTemplate": template}}
    assert written(patched_to(POLICY_WEBHOOK, review(new, old))) == [{"note": "kept"}] * 2


def test_a_policy_that_changes_changes_them() -> None:
    old = patched_to(POLICY_WEBHOOK, review(leader_worker_set(unique=KEY)))
    policy = {"replicaUniqueNodeSelector": "example.com/another"}
    template = {**old["spec"]["leaderWorkerTemplate"], "schedulingPolicy": policy}
    new = {**old, "spec": {**old["spec"], "leaderWorkerTemplate": template}}
    assert written(patched_to(POLICY_WEBHOOK, review(new, old))) == [{UNIQUE_SELECTOR: "example.com/another"}]


def test_what_somebody_wrote_over_it_stays_when_the_policy_goes() -> None:
    old = patched_to(POLICY_WEBHOOK, review(leader_worker_set(unique=KEY)))
    new = leader_worker_set(template=templates(**{UNIQUE_SELECTOR: "mine"}))
    assert written(patched_to(POLICY_WEBHOOK, review(new, old))) == [{UNIQUE_SELECTOR: "mine"}] * 2


@pytest.mark.parametrize(
    "template", [3, {"workerTemplate": 3}, {"workerTemplate": {"metadata": 3}}, {"schedulingPolicy": []}]
)
def test_parts_of_the_wrong_type_are_left_for_the_schema_to_refuse(template: Any) -> None:
    policy = {"schedulingPolicy": {"replicaUniqueNodeSelector": KEY}}
    spec = {"leaderWorkerTemplate": policy | template if isinstance(template, dict) else template}
    assert admitted(POLICY_WEBHOOK, review({**leader_worker_set(), "spec": spec}))
