"""What pools and Machines get when they are written, and what is refused, with the field that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.machines.webhooks import DEFAULTING, VALIDATION
from mooring.kube.objects import Object
from mooring.testing.hosts import machine_cluster
from mooring.testing.machines import machine, machine_deployment, machine_set, machine_template
from mooring.testing.webhooks import admitted, denied_because, patched_to, review

MIN, MAX = (f"cluster.x-k8s.io/cluster-api-autoscaler-node-group-{end}-size" for end in ("min", "max"))


def filled(obj: Object, old: Object | None = None) -> Object:
    return patched_to(DEFAULTING, review(obj, old))


def bare(**spec: Any) -> Object:
    """A pool that says as little as it may."""
    made = machine_deployment("pool", None, **spec)
    made["spec"]["selector"] = {}
    del made["spec"]["template"]["metadata"]
    return made


def test_a_pool_gets_what_upstream_gives_it() -> None:
    spec = filled(bare())["spec"]
    own = {"cluster.x-k8s.io/deployment-name": "pool", "cluster.x-k8s.io/cluster-name": "my-cluster"}
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"] == own
    assert spec["replicas"] == 1
    assert spec["rollout"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
    }


def test_the_selector_of_the_whole_cluster_stays_as_it_is() -> None:
    given = machine_deployment()
    assert filled(given)["spec"]["selector"] == given["spec"]["selector"]


@pytest.mark.parametrize("kind", ["MachineDeployment", "MachineSet", "Machine"])
def test_a_version_gets_its_letter_and_everything_its_cluster(kind: str) -> None:
    made = machine("m") if kind == "Machine" else {**machine_deployment(), "kind": kind}
    spec = made["spec"] if kind == "Machine" else made["spec"]["template"]["spec"]
    spec["version"] = "1.34.1"
    done = filled(made)
    spec = done["spec"] if kind == "Machine" else done["spec"]["template"]["spec"]
    assert spec["version"] == "v1.34.1"
    assert done["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == "my-cluster"


def test_references_are_stored_by_their_group() -> None:
    given = machine_deployment()
    reference = given["spec"]["template"]["spec"]["infrastructureRef"]
    for spelled in (
        {"apiGroup": f"{reference['apiGroup']}/v1beta1"},
        {"apiVersion": f"{reference['apiGroup']}/v1beta1"},
    ):
        rest = {name: value for name, value in reference.items() if name != "apiGroup"}
        pool = machine_deployment(template=machine_template("t", infrastructureRef={**spelled, **rest}))
        assert filled(pool)["spec"]["template"]["spec"]["infrastructureRef"] == reference


# What an autoscaler's bounds make of a pool that names no number: of a new one, and of one that had some.
REPLICAS = {"new": (None, 2), "below": (1, 2), "within": (3, 3), "above": (9, 5)}


@pytest.mark.parametrize("case", REPLICAS)
def test_bounds_of_an_autoscaler_give_the_number_that_nobody_names(case: str) -> None:
    before, expected = REPLICAS[case]
    pool = machine_deployment(replicas=None, annotations={MIN: "2", MAX: "5"})
    old = None if before is None else machine_deployment(replicas=before)
    assert filled(pool, old)["spec"]["replicas"] == expected


def test_filling_in_twice_changes_nothing() -> None:
    for made in (bare(), machine_set(), machine("m"), machine_cluster()):
        done = filled(made)
        assert filled(done) == done


def of_template(**spec: Any) -> Object:
    return machine_deployment(template=machine_template("t", **spec))


def without_bootstrap() -> Object:
    made = machine_deployment()
    made["spec"]["template"]["spec"]["bootstrap"] = {}
    return made


REFUSED: dict[str, tuple[Object, str]] = {
    "a name that is no label": (machine_deployment("a" * 64), "metadata.name"),
    "a name with dots": (machine_deployment("a.b"), "metadata.name"),
    "fewer than no Machines": (machine_deployment(replicas=-1), "spec.replicas"),
    "a template of another cluster": (of_template(clusterName="other"), "spec.template.spec.clusterName"),
    "a selector that the template does not match": (
        machine_deployment(selector={"matchLabels": {"a": "b"}}),
        "spec.selector",
    ),
    "neither bootstrap object nor Secret": (without_bootstrap(), "spec.template.spec.bootstrap"),
    "a version in words": (of_template(version="latest"), "spec.template.spec.version"),
    "a version without a patch": (of_template(version="v1.34"), "spec.template.spec.version"),
    "neither surge nor one away": (
        machine_deployment(surge=0, unavailable=0),
        "spec.rollout.strategy.rollingUpdate.maxUnavailable",
    ),
    "a surge in words": (machine_deployment(surge="half"), "spec.rollout.strategy.rollingUpdate.maxSurge"),
    "fewer than no surge": (machine_deployment(surge=-1), "spec.rollout.strategy.rollingUpdate.maxSurge"),
    "names that are not told apart": (
        machine_deployment(machineNaming={"template": "{{ .random }}-x"}),
        "spec.machineNaming.template",
    ),
    "a bound in words": (machine_deployment(annotations={MIN: "few"}), f"metadata.annotations[{MIN}]"),
    "bounds the wrong way round": (
        machine_deployment(annotations={MIN: "5", MAX: "2"}),
        f"metadata.annotations[{MAX}]",
    ),
    "a ClusterClass": (machine_cluster(topology={"class": "x"}), "spec.topology"),
    "a Machine without bootstrap data": (machine("m", bootstrap={}), "spec.bootstrap"),
    "a set of another cluster": (
        machine_set(template=machine_template("t", clusterName="other")),
        "spec.template.spec.clusterName",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_work_is_refused(what: str) -> None:
    obj, path = REFUSED[what]
    assert path in denied_because(VALIDATION, review(filled(obj)))


def test_a_machine_stays_in_its_cluster() -> None:
    assert "spec.clusterName" in denied_because(VALIDATION, review(machine("m", clusterName="new"), machine("m")))


def test_what_is_going_may_be_written_whatever_is_wrong_with_it() -> None:
    obj = machine_deployment(replicas=-1)
    obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert admitted(VALIDATION, review(obj, obj))
