"""The quick way over all nodes at once finds what asking node by node finds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from mooring.api.core.types import Pod
from mooring.placement.engine import Engine
from mooring.placement.filters import Filters
from mooring.placement.plugins.node_checks import NodeCheck
from mooring.placement.requests import build
from mooring.placement.verdicts import ERROR

DATA = Path(__file__).parents[2] / "data" / "oracle" / "volume.jsonl.gz"


def requests() -> Iterator[dict[str, Any]]:
    with gzip.open(DATA) as lines:
        for line in lines:
            yield json.loads(line)["request"]


def test_narrowing_a_mask_leaves_what_each_node_says() -> None:
    compared = 0
    for request in requests():
        cluster = build(request)
        engine = Engine(cluster)
        pod = cluster.compiler.compile(msgspec.convert(request["pod"], Pod))
        for check in Filters(engine.matching, pod).checks.all:
            mask = cluster.valid.copy()
            errors = check.narrow(mask)
            by_node = {slot: check.at(slot) for slot in cluster.order.tolist()}
            expected = cluster.valid.copy()
            expected[[slot for slot, found in by_node.items() if found]] = False
            assert np.array_equal(mask, expected), (request["id"], check.plugin)
            assert errors == {slot: found[0] for slot, found in by_node.items() if found and found[0].code == ERROR}
            compared += type(check).narrow is not NodeCheck.narrow
    assert compared > 300


def test_a_pod_is_placed_where_it_is_explained_to_land() -> None:
    for request in requests():
        cluster = build(request)
        engine = Engine(cluster)
        pod = cluster.compiler.compile(msgspec.convert(request["pod"], Pod))

        assert engine.place(pod, 0).slot == engine.explain(pod, 0).chosen, request["id"]
