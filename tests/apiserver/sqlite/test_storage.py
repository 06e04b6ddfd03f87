"""What is committed is there after a restart, what failed is said, and the file does not grow for ever."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.apiserver.sqlite import SqliteStorage, StorageFailed
from mooring.apiserver.sqlite.reserve import Reserve
from mooring.apiserver.sqlite.rows import ObjectDecoder, encode
from mooring.kube.objects import Object
from mooring.kube.status import InsufficientStorageError
from mooring.registry import MemoryStorage
from tests.apiserver.sqlite.home import configmap, content, opened, put, remove, rows


def test_what_was_committed_is_there_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as storage:
        put(storage, "a", "one")
        put(storage, "b", "two", namespace="other")
        put(storage, "c", "three")
        put(storage, "a", "four")
        remove(storage, "c")
        storage.commit()
        before, revision = storage.items("configmaps"), storage.revision

    with opened(tmp_path / "data") as storage:
        assert storage.items("configmaps") == before
        assert storage.get("configmaps", "other", "b") == configmap("b", 3, "two", "other")
        assert storage.get("configmaps", "default", "c") is None
        assert storage.revision == storage.durable == revision == 6


def test_what_was_not_committed_is_not_there_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        put(storage, "a", "one")
        storage.commit()
        put(storage, "a", "two")
        put(storage, "b")
        assert storage.durable == storage.revision - 2
    with opened(tmp_path) as storage:
        assert content(storage) == {"a": "one"}
        assert storage.revision == 2


def test_an_empty_storage_begins_as_one_in_memory_does(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        assert (storage.revision, storage.durable, storage.items("pods")) == (1, 1, [])
        storage.commit()
        assert rows(storage) == 0


def test_the_revision_goes_on_when_the_last_changes_were_removals(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        put(storage, "a")
        remove(storage, "a")
        storage.commit()
        storage._delete_replaced(100)
    for _ in range(3):
        with opened(tmp_path) as storage:
            assert (storage.revision, content(storage)) == (3, {})


def test_every_commit_waits_for_the_disk(tmp_path: Path) -> None:
    # Killing a process cannot show a missing fsync: the kernel still has what the disk has not.
    with opened(tmp_path) as storage:
        assert storage._connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert storage._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert storage._connection.execute("PRAGMA fullfsync").fetchone() == (1,)


VERBS = ["put", "remove", "commit", "restart", "tidy"]
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.sampled_from("abcd"), st.text(max_size=5)), max_size=40)


@given(STEPS)
def test_whatever_is_done_a_restart_shows_the_last_commit(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("data")
    storage = SqliteStorage(folder)
    committed, revision = content(storage), storage.revision
    for step, name, text in steps:
        if step == "put":
            put(storage, name, text)
        elif step == "remove" and name in content(storage):
            remove(storage, name)
        elif step == "commit":
            storage.commit()
            committed, revision = content(storage), storage.revision
        elif step == "tidy" and storage.durable == storage.revision:
            storage._delete_replaced(3)
        elif step == "restart":
            storage.close()
            storage = SqliteStorage(folder)
            assert (content(storage), storage.revision) == (committed, revision)
    storage.close()
    with opened(folder) as storage:
        assert (content(storage), storage.revision) == (committed, revision)


def test_under_a_constant_load_the_file_stays_as_large_as_its_content(tmp_path: Path) -> None:
    text = "x" * 2000
    sizes = []
    with opened(tmp_path) as storage:
        for turn in range(12):
            for index in range(1000):
                put(storage, f"name-{index % 100}", f"{turn}{index}{text}")
                if index % 50 == 0:
                    remove(storage, f"name-{index % 100}")
                if index % 10 == 9:
                    storage.commit()
            storage.commit()
            assert rows(storage) < 100 + 4 * 128
            sizes.append(sum(path.stat().st_size for path in tmp_path.iterdir()))
    assert sizes[-1] <= 1.2 * sizes[3], sizes


def test_one_large_commit_is_tidied_up_after_too(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        for index in range(20_000):
            put(storage, f"name-{index % 10}", "x")
        storage.commit()
        put(storage, "last")
        storage.commit()
        assert rows(storage) < 1000


def test_rows_that_were_left_behind_are_found_at_the_next_start(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        for index in range(200):
            put(storage, "a", str(index))
        remove(storage, "a")
        storage.commit()
        assert rows(storage) == 201
    with opened(tmp_path) as storage:
        for _ in range(100):
            put(storage, "b")
        storage.commit()
        assert rows(storage) < 150
        assert content(storage) == {"b": ""}


@pytest.mark.parametrize("staged_rows", [3, 600])
def test_a_full_disk_takes_what_waits_and_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, staged_rows: int
) -> None:
    monkeypatch.setattr("mooring.apiserver.sqlite.storage._LOOK_SECONDS", 0.0)
    room = False
    with opened(tmp_path) as storage:
        monkeypatch.setattr(Reserve, "take", lambda _: "" if room else "No space left on device")
        monkeypatch.setattr(Reserve, "give", lambda _: storage._connection.execute("PRAGMA max_page_count = 100000"))
        # Rows that later ones replace: what is deleted with a commit is deleted again with its repetition.
        for _ in range(300):
            put(storage, "a", "x")
        storage.commit()
        storage._connection.execute("PRAGMA max_page_count = 20")
        for number in range(staged_rows):
            put(storage, f"b-{number}", "y" * 100_000 if staged_rows == 3 else "y" * 300)
        assert storage.pending_bytes > staged_rows * 300
        storage.commit()
        assert (storage.durable, storage.pending_bytes) == (storage.revision, 0)
        attempts: list[Callable[[], None]] = [lambda: put(storage, "c"), lambda: remove(storage, "a")]
        for attempt in attempts:
            with pytest.raises(InsufficientStorageError, match="Nothing was written; free 32 MiB there") as caught:
                attempt()
            assert (caught.value.code, caught.value.reason) == (507, "InsufficientStorage")
        storage.commit()
        room = True
        put(storage, "c", "z")
        for _ in range(600):
            put(storage, "c", "z")
            storage.commit()
        assert rows(storage) < staged_rows + 300, "what was replaced before the disk was full is deleted too"
        there = content(storage)
    assert len(there) == staged_rows + 2
    with opened(tmp_path) as storage:
        assert content(storage) == there


def test_when_giving_up_the_reserve_does_not_help_nothing_more_is_taken(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        put(storage, "a", "stays")
        storage.commit()
        storage._connection.execute("PRAGMA max_page_count = 4")
        put(storage, "b", "x" * 100_000)
        with pytest.raises(StorageFailed, match=r"objects\.sqlite cannot be written: database or disk is full"):
            storage.commit()
        assert storage.durable == 2

        for attempt in (storage.commit, lambda: put(storage, "c"), lambda: remove(storage, "a")):
            with pytest.raises(StorageFailed) as caught:
                attempt()
            assert (caught.value.code, caught.value.reason) == (500, "InternalError")

    with opened(tmp_path) as storage:
        assert content(storage) == {"a": "stays"}
        put(storage, "b", "again")
        storage.commit()
        assert content(storage) == {"a": "stays", "b": "again"}


def test_a_closed_storage_takes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        pass
    with pytest.raises(StorageFailed, match="closed"):
        put(storage, "a")


NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
SECTIONS = st.dictionaries(st.sampled_from(["spec", "status", "data", "managedFields"]), JSON)
MANAGERS = st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=3)


@given(st.lists(st.tuples(SECTIONS, MANAGERS), max_size=4))
def test_whatever_an_object_holds_it_reads_as_it_was(objects: list[tuple[Object, list[Object]]]) -> None:
    decoder = ObjectDecoder()
    for sections, managers in objects:
        obj = {**sections, "metadata": {"name": "x", "managedFields": managers}}
        for _ in range(2):
            assert decoder.decode(encode(obj)) == obj


def test_equal_parts_of_what_is_read_are_one_part() -> None:
    decoder = ObjectDecoder()
    one, two = (
        decoder.decode(encode({"metadata": {"name": name, "labels": {"app": "x"}}, "spec": {"list": [1, {"a": 2}]}}))
        for name in ("one", "two")
    )
    assert one["spec"]["list"] is two["spec"]["list"]
    assert one["metadata"]["labels"] is two["metadata"]["labels"]
    assert one["metadata"] is not two["metadata"]


def test_it_orders_and_finds_as_the_one_in_memory(tmp_path: Path) -> None:
    memory = MemoryStorage()
    names = [("b", "z"), ("a", "x"), ("a-b", "y"), ("a", "a"), ("", "top")]
    with opened(tmp_path) as storage:
        for index, (namespace, name) in enumerate(names, start=2):
            for each in (memory, storage):
                each.put("configmaps", namespace, name, configmap(name, index, "", namespace), index)
        storage.commit()
    with opened(tmp_path) as storage:
        assert storage.items("configmaps") == memory.items("configmaps")
        assert storage.items("configmaps", "a") == memory.items("configmaps", "a")
        assert storage.revision == memory.revision
