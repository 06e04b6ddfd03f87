"""Revisions: named by content, numbered upwards, forgotten oldest first."""

from __future__ import annotations

from mooring.api.apps.views import ControllerRevision
from mooring.api.meta import AnnotatedMeta
from mooring.runtime.decision import Delete, Write
from mooring.workloads.kinds import STATEFUL_SET
from mooring.workloads.revisions import (
    content_hash,
    in_order,
    next_number,
    renumbered,
    surplus,
    template_of,
    template_revision,
)
from tests.workloads.objects import bare

TEMPLATE = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "main", "image": "db:1"}]}}


def revision(number: int) -> ControllerRevision:
    return ControllerRevision(metadata=AnnotatedMeta(f"db-{number}", "team"), revision=number)


def names(writes: tuple[Write, ...]) -> list[str]:
    return [write.key.name for write in writes if isinstance(write, Delete)]


def test_a_hash_follows_from_the_content_and_the_collisions_alone() -> None:
    assert content_hash({"a": 1, "b": 2}, 0) == content_hash({"b": 2, "a": 1}, 0)
    assert content_hash({"a": 1}, 0) != content_hash({"a": 1}, 1)


def test_a_revision_gives_back_the_template_it_was_made_from() -> None:
    made = template_revision(STATEFUL_SET, bare("db"), TEMPLATE, 0, 3, hash_label="hash", annotations={}).object
    word = content_hash(TEMPLATE, 0)
    assert made["metadata"]["name"] == f"db-{word}"
    assert made["metadata"]["labels"] == {"app": "db", "hash": word}
    assert "annotations" not in made["metadata"]
    assert template_of(ControllerRevision(data=made["data"], revision=made["revision"])) == TEMPLATE


def test_the_next_number_is_one_above_the_highest() -> None:
    assert next_number([]) == 1
    assert next_number([revision(7), revision(2)]) == 8
    assert renumbered(revision(2), 8).body == {"revision": 8}


def test_a_used_revision_stays_and_counts_where_it_is_asked_to() -> None:
    history = in_order(revision(number) for number in (3, 1, 4, 2))

    def is_used(each: ControllerRevision) -> bool:
        return each.revision in (1, 4)

    assert names(surplus(history, is_used, 1)) == ["db-2"]
    assert names(surplus(history, is_used, 1, used_count=True)) == ["db-2", "db-3"]
    assert names(surplus(history, is_used, 0)) == ["db-2", "db-3"]
    assert names(surplus(history, is_used, 2)) == names(surplus(history, is_used, 3)) == []
    assert names(surplus(history, is_used, 3, used_count=True)) == ["db-2"]
    assert names(surplus(history, is_used, 10)) == names(surplus(history, is_used, 10, used_count=True)) == []
    assert names(surplus(history, is_used, None)) == []
