"""The catalog as the commands ask about it: which names there are, what each brings, and what runs where by default."""

from __future__ import annotations

import json
from typing import Any

from mooring.catalog import CATALOG, FEATURES, Catalog, WorkloadKinds
from mooring.kube.objects import Object
from tests.support.golden import same_as_recorded


def told(catalog: Catalog, names: tuple[str, ...] | None) -> list[Any]:
    """What some names switch on."""
    return [
        sorted(each.name for each in catalog.controllers(names)),
        sorted(each.switch for each in catalog.webhooks(names)),
        sorted(each.kind for each in catalog.resources(names)),
        sorted(f"{each['kind']} {each['metadata']['name']}" for each in catalog.rules(names)),
        sorted(each["metadata"]["name"] for each in catalog.definitions(names)),
    ]


def as_lines(found: Any) -> str:
    if isinstance(found, dict):
        return "\n".join(f"{name}: {value}" for name, value in found.items())
    return "\n".join(map(str, sorted(found) if isinstance(found, frozenset) else found))


def test_the_catalog_brings_what_it_brought() -> None:
    said = {
        "controllers": as_lines(CATALOG.controller_names),
        "webhooks": as_lines(CATALOG.webhook_names),
        "names": as_lines(CATALOG.names),
        "conversions": as_lines(sorted(each.kind for each in CATALOG.conversions())),
        "custom kinds": as_lines(CATALOG.custom_kinds()),
        "workloads": as_lines([*CATALOG.workloads()]),
        "node pools": as_lines(each.kind for each in CATALOG.node_pools()),
        "no node pools": as_lines(each.kind for each in CATALOG.node_pools(lambda kind: False)),
        "gates": as_lines(CATALOG.gates),
        "refused gates": as_lines(CATALOG.refused_gates),
        "settings": as_lines(f"{each.name}={each.default} {each.metavar}" for each in CATALOG.settings),
        "settings of workloads": as_lines(
            f"{each.name}={each.default} {each.metavar}" for each in CATALOG.workload_settings
        ),
        "conflicts": as_lines(CATALOG.conflicts),
        "upstream": as_lines(CATALOG.upstream),
        "leases": as_lines(CATALOG.leases),
        "embedded only": as_lines(CATALOG.embedded_only),
        "external": as_lines(CATALOG.external),
        "all": as_lines(told(CATALOG, None)),
        **{f"only {name}": as_lines(told(CATALOG, (name,))) for name in CATALOG.names},
        **{f"without {each.name}": as_lines(told(_without(each.name), None)) for each in FEATURES},
    }
    same_as_recorded("catalog", said)


def _without(name: str) -> Catalog:
    return Catalog([each for each in FEATURES if each.name != name])


def test_a_kind_belongs_to_the_feature_that_defines_it() -> None:
    for api_version, kind in CATALOG.custom_kinds():
        feature = CATALOG.feature_of(api_version, kind)
        assert feature is not None
        assert any(each.kind == kind for each in feature.resources())
        assert CATALOG.feature_of(f"{api_version}0", kind) is None
        assert CATALOG.feature_of(api_version, f"{kind}s") is None


def test_workload_kinds_are_themselves_under_their_names() -> None:
    kinds = WorkloadKinds(FEATURES)
    assert len(kinds) == len([*kinds]) == len(CATALOG.workloads())
    assert {name: kinds[name].kind for name in kinds} == {name: name for name in kinds}
    assert all(kinds[name] is kinds[name] for name in kinds)


def test_controllers_with_a_lease_of_their_own_stand_in_on_the_embedded_cluster() -> None:
    plain = {each.name: each for each in CATALOG.controllers()}
    embedded = {each.name: each for each in CATALOG.embedded_controllers(CATALOG.names)}
    assert embedded.keys() == plain.keys()
    assert {
        name for name in plain if len(embedded[name].reads) > len(plain[name].reads)
    } == CATALOG.leases.keys() & plain.keys()


def test_progress_is_told_by_the_feature_of_the_kind() -> None:
    kinds = sorted(place for feature in FEATURES for place in feature.progress)
    states: list[Object] = [
        {},
        {"spec": {"replicas": 2}, "status": {"replicas": 1, "readyReplicas": 1}},
        {
            "spec": {"replicas": 1},
            "status": {"replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "availableReplicas": 1},
        },
    ]
    said = {}
    for api_version, kind in kinds:
        for state in states:
            obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "n", "namespace": "ml"}, **state}
            try:
                said[f"{kind} {json.dumps(state)}"] = CATALOG.progress(obj)
            except KeyError as error:
                said[f"{kind} {json.dumps(state)}"] = f"needs {error}"
    assert CATALOG.progress({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "n"}}) == ""
    same_as_recorded("catalog-progress", said)
