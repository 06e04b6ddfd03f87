"""Disks of old, as drivers know them: the zone in a volume's affinity, its name, and the nodes that count it."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from mooring.api.core.types import NodeSelector
from mooring.api.storage.views import CSINode
from mooring.kube.objects import Object
from mooring.placement.volumes.in_tree import BY_PLUGIN, TAKEOVERS, UNCOUNTED, counts, listed, translated_affinity
from tests.support.golden import same_as_recorded

ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, BETA_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
OWN = "topology.example.com/zone"


def model(terms: list[Object], labels: dict[str, str]) -> list[Object]:
    """As the library that all of Kubernetes uses does it: GA names where either has one, and beta ones else."""
    keys = {each["key"] for term in terms for each in term["matchExpressions"]}
    is_beta = (
        ZONE not in keys and BETA_ZONE in keys
        if keys & {ZONE, BETA_ZONE}
        else ZONE not in labels and BETA_ZONE in labels
    )
    zone = BETA_ZONE if is_beta else ZONE
    renamed = {BETA_REGION: REGION} if is_beta else {}
    if any(each["key"] == zone and each["values"] for term in terms for each in term["matchExpressions"]):
        renamed, added = {**renamed, zone: OWN}, []
    else:
        zones = sorted({each.strip() for each in labels.get(zone, "").split("__")} - {""})
        if not zones:
            return terms
        added, terms = [{"key": OWN, "operator": "In", "values": zones}], terms or [{"matchExpressions": []}]
    return [
        {
            "matchExpressions": [
                {**each, "key": renamed.get(each["key"], each["key"])} for each in term["matchExpressions"]
            ]
            + added
        }
        for term in terms
    ]


def test_zones_become_those_of_the_driver() -> None:
    draw = Random(5)
    for _ in range(600):
        names = draw.sample((ZONE, ZONE, BETA_ZONE, REGION, BETA_REGION, "other"), draw.randrange(4))
        terms = [
            {
                "matchExpressions": [
                    {"key": each, "operator": "In", "values": draw.choice((["a"], ["a", "b"], []))} for each in names
                ]
            }
            for _ in range(draw.randrange(3))
        ]
        texts = ("a", "b__a", " b __ ", "", "__")
        labels = {each: draw.choice(texts) for each in (ZONE, BETA_ZONE, REGION) if draw.random() < 0.4}
        given = msgspec.convert({"nodeSelectorTerms": terms}, NodeSelector)
        wanted = msgspec.convert({"nodeSelectorTerms": model(terms, labels)}, NodeSelector)
        found = translated_affinity(given, labels, OWN)
        assert found == wanted, (terms, labels)
        if not terms:
            bare = translated_affinity(None, labels, OWN)
            assert bare == (wanted if wanted.node_selector_terms else None), labels


def test_volumes_and_the_nodes_that_count_them_are_told_as_before() -> None:
    sources: list[Object] = [
        *({"volumeID": each} for each in ("aws://zone/vol-1", "aws:///vol-1", "vol-1", "x/vol-1", "", None)),
        *({"pdName": "disk"}, {"diskURI": "/subscriptions/1/disk"}, {}),
    ]
    said = {
        name: "\n".join([f"{each[:3]}", *(f"{source} {each.handle(source)}" for source in sources)])
        for name, each in TAKEOVERS.items()
    }
    nodes: list[Any] = [None]
    for plugins in ("", ",".join(BY_PLUGIN), "kubernetes.io/aws-ebs,kubernetes.io/portworx-volume"):
        annotations = {"storage.alpha.kubernetes.io/migrated-plugins": plugins}
        nodes.append(msgspec.convert({"metadata": {"name": "n", "annotations": annotations}}, CSINode))
    for plugin in (*BY_PLUGIN, *sorted(UNCOUNTED), "other"):
        said[plugin] = "\n".join(f"{listed(node, plugin)} {counts(node, plugin)}" for node in nodes)
    same_as_recorded("in-tree-volumes", said)
