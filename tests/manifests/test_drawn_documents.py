"""Drawn YAML becomes what kubectl makes of it, key by key; what kubectl cannot read is refused.

`python -m tests.manifests.record` asks kubectl again.
"""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest

from mooring.manifests import ManifestError, read_manifest_stream
from mooring.manifests.documents import read_stream
from mooring.manifests.emit import to_yaml
from tests.manifests.drawn import Drawing
from tests.manifests.record import SEEDS, recorded

CHUNKS = 5


def read(text: str) -> Any:
    """The object in a document; None where it is refused."""
    try:
        (document,) = read_manifest_stream(io.BytesIO(text.encode()), "drawn.yaml")
    except ManifestError:
        return None
    return document.value


def spelt(value: Any) -> str:
    """With numbers as JSON reads them, which has no other than floating ones."""
    return json.dumps(json.loads(json.dumps(value), parse_int=_number), sort_keys=True, indent=1)


def _number(text: str) -> int | float:
    return int(text) if abs(int(text)) < 1 << 53 else float(text)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_drawn_documents_are_read_as_kubectl_reads_them(chunk: int) -> None:
    for seed, expected in list(enumerate(recorded()))[chunk::CHUNKS]:
        text = Drawing(seed).document()
        assert spelt(read(text)) == spelt(expected), f"seed {seed}:\n{text}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_was_read_is_written_and_read_again_in_every_layout(chunk: int) -> None:
    for seed in SEEDS[chunk::CHUNKS]:
        value = read(Drawing(seed).document())
        if value is None:
            continue
        assert read(to_yaml(value)) == value, f"seed {seed}"
        items = {"apiVersion": "v1", "kind": "List", "items": [value, value]}
        for text in (to_yaml(items), json.dumps(items), json.dumps(items, indent=4), f"{to_yaml(value)}---\n" * 2):
            found = list(read_manifest_stream(io.BytesIO(text.encode()), "list.yaml"))
            assert [each.value for each in found] == [value, value], f"seed {seed}:\n{text}"
            places = {(each.number, each.index) for each in found}
            assert places == ({(1, None), (2, None)} if "---\n" in text else {(1, 0), (1, 1)})


class Thing(msgspec.Struct, frozen=True, rename="camel"):
    """A view of some fields of the drawn objects."""

    kind: str = ""
    spec4: Any = None
    data4: Any = None


def test_views_of_drawn_documents_are_views_of_what_kubectl_reads() -> None:
    views = {("example.com/v1", "Thing"): Thing}
    for seed in SEEDS:
        value = read(Drawing(seed).document())
        if value is not None:
            text = to_yaml({"apiVersion": "v1", "items": [value] * 2, "kind": "List"})
            found = [each.value for each in read_stream(io.BytesIO(text.encode()), "list.yaml", views)]
            assert found == [Thing("Thing", value.get("spec4"), value.get("data4"))] * 2, f"seed {seed}"


def test_enough_documents_are_read_and_enough_refused() -> None:
    found = recorded()
    assert len(found) == len(SEEDS)
    assert 100 < sum(each is None for each in found) < 250
