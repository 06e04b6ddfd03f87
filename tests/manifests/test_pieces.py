"""Pieces of a List: where a file is cut, what a piece looks like to its reader, and what a worker says of it."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mooring.api.core.views import Pod
from mooring.manifests import ManifestError, Views, documents, pieces, read_objects, read_views, worker
from mooring.manifests import parallel as parallel_module
from mooring.manifests.emit import to_yaml
from mooring.manifests.packed import Unpacked
from mooring.manifests.parallel import WorkerFailed, pieces_of
from mooring.manifests.pieces import OPENING, Piece, PieceStream
from mooring.manifests.stream import sections, text_chunks

PODS: Views = {("v1", "Pod"): Pod}


def listed(count: int) -> str:
    items = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{each:02d}"}} for each in range(count)]
    return to_yaml({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_a_piece_reads_as_a_whole_list_however_it_is_read(size: int) -> None:
    text = listed(5).encode()
    starts = [at + 1 for at in range(len(text)) if text.startswith(b"\n- ", at)]
    for first, last in ((0, 1), (1, 3), (3, 5), (0, 5), (2, 3)):
        end = len(text) if last == 5 else starts[last] - 1
        stream = PieceStream(io.BytesIO(text), Piece(starts[first], end, last == 5))
        parts = [stream.read(size)]
        while parts[-1]:
            parts.append(stream.read(size))
        ending = b"" if last == 5 else b"\nkind: List\n"
        assert b"".join(parts) == OPENING + text[starts[first] : end] + ending
        assert stream.items == last - first
        assert all(len(each) <= max(size, len(ending)) for each in parts[1:])
        assert stream.read(size) == b""


@pytest.mark.parametrize(
    ("cores", "expected"), [(None, 0), (1, 0), (2, 2), (3, 3), (4, 4), (64, 4)], ids=lambda each: str(each)
)
def test_a_file_is_cut_where_items_begin(
    cores: int | None, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    text = listed(40).encode()
    path = tmp_path / "list.yaml"
    path.write_bytes(text)
    cut = pieces_of(path)
    assert len(cut) == expected
    if not cut:
        return
    assert (cut[0].start, cut[-1].end) == (len(OPENING), len(text))
    assert [piece.is_last for piece in cut] == [False] * (expected - 1) + [True]
    for left, right in pairwise(cut):
        assert text[left.end : right.start] == b"\n"
        assert text.startswith(b"- ", right.start)
        wanted = len(text) * cut.index(right) // expected
        assert left.end == text.index(b"\n- ", wanted), "the first item behind an even share"


def test_a_file_that_cannot_be_cut_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    path = tmp_path / "list.yaml"
    for text in (listed(1), listed(40).replace("apiVersion: v1\nitems", "apiVersion: v1\n\nitems", 1), "x"):
        path.write_text(text, encoding="utf-8")
        assert pieces_of(path) == [], text[:40]
    path.write_text(listed(40), encoding="utf-8")
    monkeypatch.setattr("sys.executable", "")
    assert pieces_of(path) == []


class _Pipe:
    def __init__(self, content: bytes = b"") -> None:
        self.buffer = io.BytesIO(content)


def worked(path: Path, piece: Piece, views: Any, fits: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[Any]]:
    """What a worker ends with, and the frames that it has written."""
    stdout = _Pipe()
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdin", _Pipe(pickle.dumps((str(path), piece, dict(views), fits))))
        patched.setattr("sys.stdout", stdout)
        patched.setattr(worker, "BATCH_OBJECTS", 2)
        code = worker.main()
    written, frames = io.BytesIO(stdout.buffer.getvalue()), []
    while size := written.read(8):
        frames.append(pickle.loads(written.read(int.from_bytes(size))))
    return code, frames


def test_a_worker_sends_views_in_batches_and_then_how_many_items_there_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = listed(5) + ""
    path = tmp_path / "list.yaml"
    path.write_text(text, encoding="utf-8")
    whole = Piece(len(OPENING), len(text), True)
    code, frames = worked(path, whole, PODS, None, monkeypatch)
    assert code == 0
    assert [[index for index, _ in frame] for frame in frames[:-1]] == [[0, 1], [2, 3], [4]]
    assert [view.metadata.name for frame in frames[:-1] for _, view in frame] == [f"p{each:02d}" for each in range(5)]
    assert frames[-1] == 5
    code, frames = worked(path, whole, {}, None, monkeypatch)
    assert (code, frames) == (0, [[], 5])
    code, frames = worked(path, whole, {}, bool, monkeypatch)
    assert [value["metadata"]["name"] for frame in frames[:-1] for _, value in frame][::4] == ["p00", "p04"]


@pytest.mark.parametrize(
    "wrong",
    [
        "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n",
        "\n- [unfinished",
        "---\napiVersion: v1\nkind: Pod\n",
    ],
)
def test_a_worker_that_finds_more_than_items_leaves_the_file_to_others(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = listed(3) + wrong
    path = tmp_path / "list.yaml"
    path.write_text(text, encoding="utf-8")
    code, _ = worked(path, Piece(len(OPENING), len(text), True), PODS, None, monkeypatch)
    assert code == 1


def test_what_workers_did_not_read_is_read_here_and_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "list.yaml"
    path.write_text(listed(40), encoding="utf-8")
    monkeypatch.setattr(pieces, "MIN_SIZE", path.stat().st_size)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    asked: list[int] = []

    def failing(_: Path, cut: list[Piece], views: Any, fits: Any) -> Iterator[tuple[int, Any]]:
        asked.append(len(cut))
        for index in range(3):
            yield index, f"from a worker {index}"
        raise WorkerFailed

    monkeypatch.setattr(parallel_module, "read_in_parallel", failing)
    found = list(read_views(path, PODS))
    assert asked == [2]
    assert [each.value for each in found[:3]] == [f"from a worker {index}" for index in range(3)]
    assert [each.value.metadata.name for each in found[3:]] == [f"p{each:02d}" for each in range(3, 40)]
    assert {(each.file, each.number) for each in found} == {(str(path), 1)}
    assert [each.index for each in found] == list(range(40))
    monkeypatch.setattr(pieces, "MIN_SIZE", path.stat().st_size + 1)
    assert len(list(read_objects(path, PODS, bool))) == 40
    assert asked == [2], "a file below the least size is read here alone"


def test_a_packed_file_that_is_damaged_says_so() -> None:
    for damaged in (b"no gzip at all", b"\x1f\x8b\x08\x00"):
        with pytest.raises(ManifestError, match="not a whole gzip file"):
            Unpacked(io.BytesIO(damaged)).read(10)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_text_is_cut_at_lines_that_begin_at_the_margin(size: int) -> None:
    text = "a:\n  b: 1\n\n  c\nd: 2\n- e\n  f\n\n# g\n  \n"
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    found = [(each.text, each.line, each.more) for each in sections(chunks)]
    assert found == [("a:\n  b: 1\n\n  c", 1, 3), ("d: 2", 5, 0), ("- e\n  f\n", 6, 2), ("# g\n  ", 9, 1)]
    assert list(sections([])) == list(sections(["\n", "\n"])) == []


def test_text_is_decoded_as_its_mark_says_with_one_kind_of_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.manifests.stream._CHUNK", 3)
    text = "é\r\nb\rc\r\n\r\n日"
    utf_16 = (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"))
    for encoding, mark in (("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), *utf_16):
        found = "".join(text_chunks(io.BytesIO(mark + text.encode(encoding))))
        assert found == "é\nb\rc\n\n日", encoding
    for data, why in (
        (b"ab\xffcd", "not UTF-8 text (byte 2)"),
        (b"abcd\xff", "not UTF-8 text (byte 4)"),
        (b"abc\xc3", "not UTF-8 text (it ends inside a character at byte 4)"),
    ):
        with pytest.raises(ManifestError) as refused:
            list(text_chunks(io.BytesIO(data)))
        assert str(refused.value) == why, data


def test_a_document_that_cannot_be_opened_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(ManifestError, match=r"closed\.yaml: permission denied$"):
        list(documents.read_manifests(tmp_path / "closed.yaml"))
