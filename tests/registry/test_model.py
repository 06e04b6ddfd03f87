"""The registry against a model of a few lines: drawn writes, and everything that can be read at any time since."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mooring.apiserver.sqlite import SqliteStorage
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ApiError, ConflictError, ExpiredError, NotFoundError
from mooring.registry import CheckedStorage, Registry, Storage, Watch
from tests.registry.world import START

SPACES = ("default", "kube-system", "kube-public")
NAMES = ("a", "b", "c", "d-1", "d.2", "e")
TEAMS = ("red", "blue")
LIMIT = 12
# Changes are dropped some at a time.
MOST_KEPT = 2 * LIMIT

State = dict[tuple[str, str], Object]


class Model:
    """All that was ever stored: the objects by revision, and the changes in their order."""

    def __init__(self, revision: int) -> None:
        self.objects: State = {}
        self.by_revision: dict[int, State] = {revision: {}}
        self.changes: list[tuple[int, str, Object]] = []
        self.first = revision

    def note(self, kind: str, obj: Object, revision: int) -> None:
        metadata = obj["metadata"]
        key = metadata["namespace"], metadata["name"]
        if kind == "DELETED":
            self.objects = {other: each for other, each in self.objects.items() if other != key}
        else:
            self.objects = {**self.objects, key: obj}
        self.by_revision[revision] = self.objects
        self.changes.append((revision, kind, obj))

    def at(self, revision: int) -> State:
        return self.by_revision[max(each for each in self.by_revision if each <= revision)]


def listed(state: State, namespace: str | None, team: str | None) -> list[Object]:
    chosen = [
        (f"{space}/", name, obj)
        for (space, name), obj in state.items()
        if namespace in (None, space) and team in (None, obj["metadata"].get("labels", {}).get("team"))
    ]
    return [obj for _, _, obj in sorted(chosen, key=lambda each: each[:2])]


def events(model: Model, since: int, namespace: str | None, team: str | None) -> list[tuple[str, str, str, int]]:
    """What a watch tells: who comes into the selection is added, who leaves it is deleted."""
    found = []

    def is_in(obj: Object | None) -> bool:
        return obj is not None and team in (None, obj["metadata"].get("labels", {}).get("team"))

    for revision, kind, obj in model.changes:
        metadata = obj["metadata"]
        key = metadata["namespace"], metadata["name"]
        if revision <= since or namespace not in (None, key[0]):
            continue
        before, after = is_in(model.at(revision - 1).get(key)), kind != "DELETED" and is_in(obj)
        if before or after:
            told = "MODIFIED" if before and after else "ADDED" if after else "DELETED"
            found.append((told, *key, revision))
    return found


class Story:
    def __init__(self, seed: int, storage: Storage) -> None:
        self.draw = random.Random(seed)
        self.storage = storage
        self.opened = storage.revision
        self.registry = Registry(storage, now=START, seed=seed, history_limit=LIMIT)
        self.kind = self.registry.resource("v1", "ConfigMap")
        self.opened = self.registry.revision
        self.model = Model(self.opened)
        self.watches: list[tuple[Watch, int, str | None, str | None, list[tuple[str, str, str, int]]]] = []

    def choice(self) -> tuple[str | None, str | None]:
        return self.draw.choice((None, *SPACES)), self.draw.choice((None, None, *TEAMS))

    # Writing

    def write(self) -> None:
        draw = self.draw
        space, name = draw.choice(SPACES), draw.choice(NAMES)
        old = self.model.objects.get((space, name))
        before = self.registry.revision
        way = draw.choice(("create", "create", "update", "patch", "same", "delete", "stale"))
        labels = {"team": draw.choice(TEAMS)} if draw.random() < 0.7 else {}
        fresh: Object = {"metadata": {"name": name, "labels": labels}, "data": {"n": str(draw.random())}}
        dry = draw.random() < 0.15
        try:
            if way == "create":
                made = self.registry.create(self.kind, fresh, namespace=space, now=START, dry_run=dry)
                assert old is None
            elif way == "delete":
                made = self.registry.delete(self.kind, space, name, now=START, dry_run=dry)
                assert old is not None
            elif way == "patch":
                made = self.registry.patch(
                    self.kind, space, name, "merge", {"data": fresh["data"]}, now=START, dry_run=dry
                )
                assert made["data"] == fresh["data"]
            elif way == "same":
                made = self.registry.patch(self.kind, space, name, "merge", {}, now=START, dry_run=dry)
                assert made == old
                dry = True
            else:
                version = old["metadata"]["resourceVersion"] if old is not None and way == "update" else "1"
                sent = {**fresh, "metadata": {**fresh["metadata"], "namespace": space, "resourceVersion": version}}
                made = self.registry.update(self.kind, sent, now=START, dry_run=dry)
                assert way == "update"
        except AlreadyExistsError:
            assert (way, old is not None) == ("create", True)
            assert self.registry.revision == before
            return
        except NotFoundError:
            assert old is None
            assert self.registry.revision == before
            return
        except ConflictError:
            assert way == "stale"
            assert self.registry.revision == before
            return
        if dry:
            assert self.registry.revision == before
            return
        assert self.registry.revision == before + 1
        if way == "delete":
            assert made["metadata"]["uid"] == old["metadata"]["uid"] if old else True
        else:
            assert made["metadata"]["resourceVersion"] == str(before + 1)
        self.model.note("DELETED" if way == "delete" else "WRITTEN", made, before + 1)

    # Reading

    def read(self) -> None:
        registry, model, draw = self.registry, self.model, self.draw
        namespace, team = self.choice()
        selector = f"team={team}" if team else ""
        found = registry.list(self.kind, namespace, label_selector=selector)
        assert found.items == listed(model.objects, namespace, team)
        assert (found.resource_version, found.continue_, found.remaining) == (str(registry.revision), "", None)
        revision = draw.choice(sorted(model.by_revision))
        try:
            old = registry.list(
                self.kind,
                namespace,
                label_selector=selector,
                resource_version=str(revision),
                resource_version_match="Exact",
            )
        except ExpiredError:
            assert self.is_forgotten(revision)
        else:
            assert old.items == listed(model.at(revision), namespace, team)
            assert old.resource_version == str(revision)
            assert not self.is_long_forgotten(revision)
        space, name = draw.choice(SPACES), draw.choice(NAMES)
        one = registry.find("v1", "ConfigMap", space, name)
        assert one == model.objects.get((space, name))
        assert registry.has(self.kind, space, name) is (one is not None)
        by_name = registry.list(self.kind, space, field_selector=f"metadata.name={name}")
        assert by_name.items == ([] if one is None else [one])
        assert registry.count(self.kind) == len(model.objects)

    def is_forgotten(self, revision: int) -> bool:
        """Whether it may have been forgotten: not while fewer changes came after it than are kept."""
        return sum(each > revision for each, _, _ in self.model.changes) >= LIMIT or revision < self.opened

    def is_long_forgotten(self, revision: int) -> bool:
        return sum(each > revision for each, _, _ in self.model.changes) > MOST_KEPT or revision < self.opened

    def pages(self) -> None:
        """A list in pages, all of the revision of the first, with writes between them."""
        namespace, team = self.choice()
        selector = f"team={team}" if team else ""
        limit = self.draw.choice((1, 2, 3, 7))
        expected = listed(self.model.objects, namespace, team)
        revision = self.registry.revision
        found: list[Object] = []
        token = ""
        for _ in range(len(expected) + 2):
            try:
                page = self.registry.list(self.kind, namespace, label_selector=selector, limit=limit, continue_=token)
            except ExpiredError:
                assert self.is_forgotten(revision)
                return
            assert page.resource_version == str(revision)
            assert len(page.items) <= limit
            found += page.items
            assert found == expected[: len(found)]
            left = len(expected) - len(found)
            if team is None:
                assert page.remaining == (left or None)
                assert bool(page.continue_) is bool(left)
            else:
                assert page.remaining is None
            token = page.continue_
            if not token:
                assert left == 0
                return
            if self.draw.random() < 0.5:
                self.write()
        raise AssertionError("the pages have no end")

    def open_watch(self) -> None:
        namespace, team = self.choice()
        since = self.draw.choice((*sorted(self.model.by_revision)[-6:], 0))
        options: Any = {"label_selector": f"team={team}" if team else ""}
        try:
            watch = self.registry.watch(self.kind, namespace, resource_version=str(since), **options)
        except ExpiredError:
            assert self.is_forgotten(since)
            return
        seen: list[tuple[str, str, str, int]] = []
        if since == 0:
            # It begins with what there is.
            since = self.registry.revision
            seen += [told(event) for event in watch.poll()]
            assert [each[:3] for each in seen] == [
                ("ADDED", obj["metadata"]["namespace"], obj["metadata"]["name"])
                for obj in listed(self.model.objects, namespace, team)
            ]
            seen = []
        self.watches.append((watch, since, namespace, team, seen))

    def poll(self) -> None:
        for number, (watch, since, namespace, team, seen) in enumerate(self.watches):
            if self.draw.random() < 0.4:
                continue
            most = self.draw.choice((None, 1, 3))
            try:
                seen += [told(event) for event in watch.poll(most=most)]
                while watch.behind:
                    seen += [told(event) for event in watch.poll(most=most)]
            except ExpiredError:
                assert self.is_forgotten(watch.revision)
                watch.close()
                self.watches[number] = (
                    self.registry.watch(self.kind, resource_version=str(self.registry.revision)),
                    self.registry.revision,
                    None,
                    None,
                    [],
                )
                continue
            assert seen == events(self.model, since, namespace, team)

    def turn(self) -> None:
        self.draw.choice(
            (self.write, self.write, self.write, self.write, self.read, self.pages, self.open_watch, self.poll)
        )()


def told(event: Any) -> tuple[str, str, str, int]:
    metadata = event.object["metadata"]
    return event.type, metadata["namespace"], metadata["name"], int(metadata["resourceVersion"])


def played(seed: int, storage: Storage, turns: int) -> Story:
    story = Story(seed, storage)
    for _ in range(turns):
        story.turn()
    story.read()
    story.poll()
    return story


@pytest.mark.parametrize("seed", range(8))
def test_everything_that_is_read_is_what_was_written(seed: int) -> None:
    storage = CheckedStorage()
    played(seed, storage, 220)
    storage.verify()


def test_a_storage_on_disk_gives_back_what_was_written_whenever_it_is_opened_again(tmp_path: Path) -> None:
    model: State = {}
    revision = 0
    for round_number in range(4):
        storage = SqliteStorage(tmp_path / "data")
        assert storage.revision >= revision
        story = Story(round_number, storage)
        stored = {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each
            for each in story.registry.list(story.kind).items
        }
        assert stored == model
        # What was there before is the beginning of the model, and no change is known from then.
        story.model.objects = model
        story.model.by_revision = {story.opened: model}
        for _ in range(60):
            story.turn()
        if round_number < 3:
            storage.commit()
            assert storage.durable == storage.revision
        model, revision = story.model.objects, storage.revision
        storage.close()


def refused(action: Callable[[], object]) -> int:
    with pytest.raises(ApiError) as caught:
        action()
    return caught.value.code


def test_what_lies_in_the_future_or_was_never_given_out_is_refused() -> None:
    story = played(1, CheckedStorage(), 30)
    registry, kind = story.registry, story.kind
    future = str(registry.revision + 1)
    assert refused(lambda: registry.list(kind, resource_version=future)) == 504
    assert refused(lambda: registry.list(kind, resource_version=future, resource_version_match="Exact")) == 504
    assert registry.list(kind, resource_version=str(registry.revision)).items == listed(story.model.objects, None, None)
    page = registry.list(kind, limit=1)
    assert refused(lambda: registry.list(kind, continue_=page.continue_, resource_version="5")) == 400
