"""What takes long is done in slices: others are served in between, and no slice grows with what is stored."""

from __future__ import annotations

import json
import threading
import time

import msgspec
import pytest

from mooring.apiserver.handlers import delete
from mooring.apiserver.messages import list_body
from mooring.kube.objects import Object
from mooring.net.exchange import Exchange
from mooring.net.fairqueue import FairQueue
from mooring.net.waiter import Waiter
from mooring.registry import lists
from tests.apiserver.world import CONFIGMAPS, TABLE, Api

KIB = 1024


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Who waited for a turn, as often as that happened."""
    found: list[bytes] = []
    turn = FairQueue.turn

    def counted(self: FairQueue, flow: bytes) -> Waiter:
        found.append(flow)
        return turn(self, flow)

    monkeypatch.setattr(FairQueue, "turn", counted)
    return found


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all parts of answers."""
    found: list[int] = []
    send = Exchange._send_body

    def recorded(self: Exchange, body: bytes, *, last: bool) -> None:
        found.append(len(body))
        send(self, body, last=last)

    monkeypatch.setattr(Exchange, "_send_body", recorded)
    return found


def stored(api: Api, count: int, text: str = "x") -> None:
    kind = api.registry.resource("v1", "ConfigMap")

    def make() -> None:
        for number in range(count):
            made: Object = {"metadata": {"name": f"c{number:05}", "namespace": "default"}, "data": {"a": text}}
            api.registry.create(kind, made, now=api.now)

    api.server.call(make)


def test_a_list_is_selected_in_slices(api: Api, turns: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "_SLICE_OBJECTS", 20)
    stored(api, 100)
    assert api.get(f"{CONFIGMAPS}?labelSelector=no%3Dbody").body["items"] == []
    assert turns == [b"Bearer secret"] * 4


def test_a_watch_selects_what_exists_in_slices_and_tells_what_is_written_meanwhile_afterwards(
    api: Api, turns: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "_SLICE_OBJECTS", 20)
    stored(api, 100)
    kind = api.registry.resource("v1", "ConfigMap")
    turn = FairQueue.turn

    def meddle(self: FairQueue, flow: bytes) -> Waiter:
        if api.registry.has(kind, "default", "c00099"):
            api.registry.delete(kind, "default", "c00099", now=api.now)
        return turn(self, flow)

    monkeypatch.setattr(FairQueue, "turn", meddle)
    with api.watch(CONFIGMAPS, labelSelector="no!=body", timeoutSeconds=1) as lines:
        told = [(event["type"], event["object"]["metadata"]["name"]) for event in lines.rest()]
    assert told[99:] == [("ADDED", "c00099"), ("DELETED", "c00099")]
    assert len(told) == 101
    assert len(turns) >= 4


def test_a_list_in_slices_is_that_of_one_moment(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(api, 100)
    monkeypatch.setattr(lists, "_SLICE_OBJECTS", 10)
    kind = api.registry.resource("v1", "ConfigMap")
    slices = api.registry.list_slices(kind, "default", label_selector="a!=b")
    next(slices)
    api.server.call(lambda: api.registry.delete(kind, "default", "c00099", now=api.now))
    found = None
    while found is None:
        try:
            next(slices)
        except StopIteration as end:
            found = end.value
    assert len(found.items) == 100
    assert int(found.resource_version) == api.registry.revision - 1


def test_a_list_is_sent_in_pieces_of_so_many_bytes_however_large_its_objects_are(
    api: Api, turns: list[bytes], sent: list[int]
) -> None:
    stored(api, 20, "x" * 200 * KIB)
    assert len(api.get(CONFIGMAPS).body["items"]) == 20
    assert len(turns) >= 20
    assert max(sent) < (64 + 200 + 8) * KIB


@pytest.mark.parametrize("accept", ["application/json", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"])
def test_the_document_of_all_groups_is_made_in_slices_and_once(api: Api, turns: list[bytes], accept: str) -> None:
    headers = {"accept": accept}
    first = api.client.get("/openapi/v2", headers=headers).content
    made = len(turns)
    assert made >= 2 * len(api.get("/openapi/v3").body["paths"])
    assert api.client.get("/openapi/v2", headers=headers).content == first
    assert len(turns) == made


@pytest.mark.parametrize("count", [0, 1, 2_000])
@pytest.mark.parametrize("accept", ["application/json", TABLE])
def test_an_indented_list_is_the_list_indented(api: Api, count: int, accept: str, sent: list[int]) -> None:
    stored(api, count, 'a line\nand "another"')
    plain = api.client.get(CONFIGMAPS, headers={"accept": accept}).content
    shown = api.client.get(f"{CONFIGMAPS}?pretty=true", headers={"accept": accept}).content
    assert shown == msgspec.json.format(plain, indent=2)
    assert max(sent) < 72 * KIB


def test_deleting_a_collection_lets_others_in_between(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete, "_SLICE_DELETIONS", 10)
    stored(api, 1_000)
    headers = {"authorization": "Bearer other"}
    api.users["other"] = api.users["secret"]
    left: list[int] = []
    done = threading.Event()
    turn = FairQueue.turn

    def slowly(self: FairQueue, flow: bytes) -> Waiter:
        # The other one is a thread of this very process, which needs time of its own to ask.
        time.sleep(0.002)
        return turn(self, flow)

    monkeypatch.setattr(FairQueue, "turn", slowly)

    def ask() -> None:
        while not done.is_set():
            page = api.client.get(f"{CONFIGMAPS}?limit=1", headers=headers).json()
            left.append(len(page["items"]) + page["metadata"].get("remainingItemCount", 0))

    other = threading.Thread(target=ask)
    other.start()
    while not left:
        time.sleep(0.001)
    gone = api.delete(CONFIGMAPS)
    done.set()
    other.join()
    assert len(gone.body["items"]) == 1_000
    assert [count for count in left if 0 < count < 1_000]
    assert api.get(CONFIGMAPS).body["items"] == []


def test_a_collection_is_deleted_durably_slice_by_slice(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete, "_SLICE_DELETIONS", 10)
    stored(api, 45)
    monkeypatch.setattr(type(api.storage), "durable", property(lambda self: self.revision))
    waited: list[int] = []
    wait = api.app.group_commit.wait

    async def counted(revision: int | None = None) -> None:
        waited.append(api.registry.count(api.registry.resource("v1", "ConfigMap")))
        await wait(revision)

    monkeypatch.setattr(api.app.group_commit, "wait", counted)
    api.delete(CONFIGMAPS)
    assert waited == [35, 25, 15, 5, 0]


def test_what_another_client_deletes_meanwhile_is_not_missed(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete, "_SLICE_DELETIONS", 1)
    stored(api, 3)
    kind = api.registry.resource("v1", "ConfigMap")
    turn = FairQueue.turn

    def meddle(self: FairQueue, flow: bytes) -> Waiter:
        if api.registry.has(kind, "default", "c00002"):
            api.registry.delete(kind, "default", "c00002", now=api.now)
        return turn(self, flow)

    monkeypatch.setattr(FairQueue, "turn", meddle)
    gone = api.delete(CONFIGMAPS)
    # The answer is what was found at the beginning.
    assert (gone.code, [item["metadata"]["name"] for item in gone.body["items"]]) == (
        200,
        ["c00000", "c00001", "c00002"],
    )
    assert api.names(CONFIGMAPS) == []


def test_a_watcher_is_sent_large_events_in_slices(api: Api, sent: list[int]) -> None:
    version = api.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    with api.watch(CONFIGMAPS, resourceVersion=version) as lines:
        stored(api, 30, "x" * 100 * KIB)
        names = [lines.told()[1] for _ in range(30)]
    assert names == [f"c{number:05}" for number in range(30)]
    assert max(sent) < (64 + 100 + 8) * KIB


def test_a_watcher_who_wants_little_of_much_hears_of_it(api: Api) -> None:
    version = api.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    with api.watch(CONFIGMAPS, resourceVersion=version, fieldSelector="metadata.name=c00899") as lines:
        stored(api, 900)
        assert lines.told() == ("ADDED", "c00899")
    with api.watch(CONFIGMAPS, resourceVersion=version, fieldSelector="metadata.name=c00899") as lines:
        assert lines.told() == ("ADDED", "c00899")


def test_pieces_are_cut_by_bytes() -> None:
    items: list[Object] = [{"a": "x" * 1_000} for _ in range(1_000)]
    pieces = list(list_body.ListBody(b'{"items":[', items, lambda part: part))
    assert json.loads(b"".join(pieces)) == {"items": items}
    assert len(pieces) == 16
    assert max(map(len, pieces)) < 66 * KIB
