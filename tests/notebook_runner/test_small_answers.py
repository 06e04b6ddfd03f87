"""What the runner says of kernels that died, files that are no notebooks, outputs as text, values and parameters."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mooring.notebook_runner import artifact
from mooring.notebook_runner.artifact import artifact_frame, with_short_outputs
from mooring.notebook_runner.cell_text import output_text, traceback_text
from mooring.notebook_runner.durations import go_duration
from mooring.notebook_runner.execution.dead_kernel import how_it_died, oom_kills
from mooring.notebook_runner.execution.notebook_file import NotANotebook, read_notebook
from mooring.notebook_runner.execution.parameters import assignments, place_of
from mooring.notebook_runner.execution.value_probe import PROBE, answer_of
from mooring.notebook_runner.frames import ARTIFACT, FrameError, decode, encode
from mooring.notebook_runner.result_limits import cut

LAST = "; its last words: "


@pytest.mark.parametrize(
    ("code", "memory", "log", "said"),
    [
        (1, True, "x", "it was killed because the memory limit was reached; raise resources.limits.memory"),
        (
            -9,
            False,
            "x",
            "it was killed (SIGKILL), as is done when memory runs out; raise resources.limits.memory if that is why",
        ),
        (None, False, "", "it no longer answers"),
        (None, False, " a\n  b ", f"it no longer answers{LAST}a b"),
        (-11, False, "", "signal 11 (SIGSEGV) ended it"),
        (-99, False, "", "signal 99 (unknown) ended it"),
        (0, False, "", "it exited with code 0"),
        (3, False, "x" * 500, f"it exited with code 3{LAST}{'x' * 400}"),
        (3, False, f"begin {'y' * 399}", f"it exited with code 3{LAST} {'y' * 399}"),
    ],
)
def test_how_a_kernel_died_is_told(code: int | None, memory: bool, log: str, said: str) -> None:
    assert how_it_died(code, memory, log) == said


@pytest.mark.parametrize(
    ("groups", "files", "kills"),
    [
        (None, {}, 0),
        ("0::/a\n", {"a/memory.events": "low 1\noom 4\noom_kill 2\n"}, 2),
        ("0::/a\n", {"a/memory.events": "oom_kill x\n", "memory.events": "oom_kill 3\n"}, 3),
        ("3:cpu,memory:/b\n2:memory2:/c\n", {"memory/b/memory.oom_control": "under_oom 0\noom_kill 5\n"}, 5),
        ("3:memory2:/b\n", {"memory/b/memory.oom_control": "oom_kill 5\n"}, 0),
        ("3:cpu:/b\n", {"memory/memory.oom_control": "oom_kill 6\n"}, 6),
        ("odd\n4:cpu\n", {"memory.events": "oom_kill 7\n"}, 7),
        ("0::/a\n", {"a/memory.events": "oom_kill 1\n", "memory.events": "oom_kill 9\n"}, 1),
    ],
)
def test_kills_for_memory_are_counted_in_both_versions_of_control_groups(
    tmp_path: Path, groups: str | None, files: dict[str, str], kills: int
) -> None:
    if groups is not None:
        (tmp_path / "groups").write_text(groups)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert oom_kills(str(tmp_path / "groups"), str(tmp_path)) == kills


OUTPUTS: list[dict[str, Any]] = [
    {"output_type": "stream", "text": ["a\n", "\x1b[31mb\x1b[0m\n\n"]},
    {"output_type": "stream", "text": "\n"},
    {"output_type": "display_data", "data": {"image/png": "x", "application/json": {}}},
    {"output_type": "display_data", "data": {}},
    {"output_type": "execute_result", "data": {"text/plain": ["4", "2"], "image/png": "x"}},
    {"output_type": "error", "ename": "E", "evalue": "first", "traceback": ["\x1b[31mone\x1b[0m", 2]},
    {"output_type": "error", "ename": "F", "evalue": "last"},
]


def test_outputs_are_told_as_text_in_their_order() -> None:
    assert output_text({"outputs": OUTPUTS}) == "a\nb\n[application/json], [image/png]\n42\nE: first\nF: last"
    assert output_text({}) == ""
    assert traceback_text({"outputs": OUTPUTS[:6] + OUTPUTS[:1]}) == "one\n2"
    assert traceback_text({"outputs": OUTPUTS}) == ""
    assert traceback_text({"outputs": OUTPUTS[:5]}) == traceback_text({}) == ""


def test_durations_are_written_as_go_writes_them() -> None:
    for seconds, text in {
        0: "0s",
        0.0004: "0s",
        0.0006: "1ms",
        0.999: "999ms",
        0.9996: "1s",
        1.5: "1.5s",
        10: "10s",
        59.999: "59.999s",
        60: "1m0s",
        123.4: "2m3.4s",
        3599.9996: "1h0m0s",
        3600: "1h0m0s",
        90061.25: "25h1m1.25s",
    }.items():
        assert go_duration(seconds) == text, seconds


# Files


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "{} does not exist"),
        (b"\xff\xfe", "{} is not a notebook: it is no text in UTF-8"),
        (
            b"{",
            "{} is not a notebook: it is no JSON (Expecting property name enclosed in double quotes: line 1 column 2",
        ),
        (b"[" * 100_000, "{} is not a notebook: it is no JSON ("),
        (b"[]", "{} is not a notebook: it is JSON without nbformat"),
        (b"{}", "{} is not a notebook: it is JSON without nbformat"),
        (b'{"nbformat": "4"}', "{} is not a notebook: it is JSON without nbformat"),
        (b"not json", "{} is not a notebook: it is no JSON ("),
        (b'{"nbformat": 4}', "{} is not a valid notebook: "),
        (
            b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "x"}]}',
            "{} is not a valid notebook: ",
        ),
        (b'{"nbformat": 99, "cells": []}', "{} is not a valid notebook: "),
        (b'{"nbformat": 99, "nbformat_minor": 0, "metadata": {}, "cells": []}', "{} is not a valid notebook: "),
    ],
)
def test_a_file_that_is_no_notebook_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "n.ipynb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NotANotebook) as told:
        read_notebook(str(path))
    assert str(told.value).startswith(said.format(path))
    assert "\n" not in str(told.value)


def test_a_folder_and_a_file_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotANotebook) as folder:
        read_notebook(str(tmp_path))
    assert str(folder.value) == f"{tmp_path} is a folder, not a notebook"

    def refused(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refused)
    with pytest.raises(NotANotebook, match=r"^/x cannot be read: Permission denied$"):
        read_notebook("/x")


def test_a_notebook_is_read_in_format_4_with_whole_texts(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": ["a\n", "b"],
    }
    four = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}
    path.write_text("\ufeff" + json.dumps(four), encoding="utf-8")
    assert read_notebook(str(path))["cells"][0]["source"] == "a\nb"
    old = {
        "cell_type": "code",
        "language": "python",
        "collapsed": False,
        "metadata": {},
        "outputs": [],
        "input": ["a\n"],
    }
    three = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"metadata": {}, "cells": [old]}],
    }
    path.write_text(json.dumps(three))
    found = read_notebook(str(path))
    assert (found["nbformat"], found["cells"][0]["source"]) == (4, "a\n")


# Parameters and values


def test_parameters_are_assigned_by_name_after_the_cell_that_is_tagged() -> None:
    assert assignments({"b": [1, None], "a": "x'y", "c": True}) == 'a = "x\'y"\nb = [1, None]\nc = True'
    plain = {"cell_type": "code", "metadata": {}}
    tagged = {"cell_type": "code", "metadata": {"tags": ["other", "parameters"]}}
    text = {"cell_type": "markdown", "metadata": {"tags": ["parameters"]}}
    assert [place_of(cells) for cells in ([], [plain, text], [text, plain, tagged, tagged], [tagged])] == [0, 0, 3, 1]


class Array:
    """As numpy has them."""

    shape = (2, 3)
    size = 6

    def __len__(self) -> int:
        return 2

    def __float__(self) -> float:
        raise TypeError


class Scalar:
    shape = ()
    size = 1

    def __len__(self) -> int:
        raise TypeError

    def __float__(self) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("value", "name", "shape", "length", "number"),
    [
        (3, "builtins.int", None, None, "3.0"),
        (float("nan"), "builtins.float", None, None, "nan"),
        ([1, 2], "builtins.list", [2], 2, None),
        ("", "builtins.str", [0], 0, None),
        (Array(), f"{__name__}.Array", [2, 3], 2, None),
        (Scalar(), f"{__name__}.Scalar", [], None, "0.5"),
        (None, "builtins.NoneType", None, None, None),
    ],
)
def test_a_value_is_asked_for_its_types_shape_length_and_number(
    value: object, name: str, shape: list[int] | None, length: int | None, number: str | None
) -> None:
    text = eval(PROBE % (3, 3), {"Out": {3: value}})
    reply = {"content": {"user_expressions": {"value": {"data": {"text/plain": repr(text)}}}}}
    found = answer_of(reply)
    assert found is not None
    assert found["types"][0] == name
    assert found["types"][-1] == "builtins.object"
    assert [found[each] for each in ("shape", "length", "number")] == [shape, length, number]
    assert eval(PROBE % (3, 3), {"Out": {}}) == "null"


@pytest.mark.parametrize("text", ["'null'", "'[1]'", "'{'", "odd(", "{'a': 1}"])
def test_an_answer_that_is_none_says_nothing(text: str) -> None:
    reply = {"content": {"user_expressions": {"value": {"data": {"text/plain": text}}}}}
    assert answer_of(reply) is None
    assert answer_of(None) is answer_of({}) is None


# Artefacts and frames


def test_outputs_are_cut_to_a_size_and_say_how_long_they_were() -> None:
    outputs: list[dict[str, Any]] = [
        {"output_type": "stream", "text": ["x" * 30, "y" * 30]},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["z" * 60, *map(str, range(60))]},
        {
            "output_type": "display_data",
            "data": {
                "text/html": "h" * 60,
                "image/png": "p" * 21,
                "application/json": {"a": "b" * 20},
                "text/x": "s" * 20,
            },
        },
        {"output_type": "display_data", "data": {"text/plain": "kept", "image/png": "p" * 21}},
        {"output_type": "display_data", "data": {"image/png": "p" * 20}},
        {"output_type": "display_data"},
    ]
    cells = [{"cell_type": "code", "outputs": outputs}, {"cell_type": "markdown", "source": "s" * 60}]
    found = with_short_outputs({"cells": cells, "metadata": {"a": 1}}, 20)
    assert found["metadata"] == {"a": 1}
    assert found["cells"][1] == cells[1]
    told = "[image/png cut by the runner: 21 characters]"
    assert found["cells"][0] == {
        "cell_type": "code",
        "outputs": [
            {"output_type": "stream", "text": cut("x" * 30 + "y" * 30, 20)},
            {**outputs[1], "traceback": [cut("z" * 60, 20), *map(str, range(49))]},
            {
                "output_type": "display_data",
                "data": {"text/html": cut("h" * 60, 20), "text/plain": told, "text/x": "s" * 20},
            },
            {"output_type": "display_data", "data": {"text/plain": "kept"}},
            outputs[4],
            {"output_type": "display_data", "data": {}},
        ],
    }
    assert len(outputs[0]["text"]) == 2


def random_text(characters: int) -> str:
    """That no compression makes shorter than half."""
    return "".join(hashlib.sha512(str(number).encode()).hexdigest() for number in range(characters // 128 + 1))[
        :characters
    ]


def test_an_artefact_is_cut_until_its_frame_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def limits(most: int, source: str = "") -> list[int | None]:
        """To how many characters the outputs of the notebook that came were cut."""
        monkeypatch.setattr(artifact, "MAX_FRAME_CHARACTERS", most)
        text = random_text(300 << 10)
        notebook = {"cells": [{"source": source, "outputs": [{"output_type": "stream", "text": text}]}]}
        pages: list[dict[str, Any]] = []

        def page(small: dict[str, Any]) -> str:
            pages.append(small)
            return "ü"

        frame = artifact_frame(notebook, page)
        if not frame:
            return [None]
        assert len(frame) <= most
        found = json.loads(decode(frame, ARTIFACT))
        assert found == {"executed": pages[-1], "report": "ü"}
        sizes = {len(text): 0, **{len(cut(text, limit)): limit for limit in (256 << 10, 32 << 10, 4 << 10, 500)}}
        return [sizes[len(small["cells"][0]["outputs"][0]["text"])] for small in pages]

    assert limits(4 << 20) == [0]
    assert limits(220_000) == [0, 256 << 10]
    assert limits(100_000) == [0, 256 << 10, 32 << 10]
    assert limits(10_000) == [0, 256 << 10, 32 << 10, 4 << 10]
    assert limits(1_500) == [0, 256 << 10, 32 << 10, 4 << 10, 500]
    assert limits(1_500, random_text(4000)) == [None]


def test_what_is_wrong_with_a_frame_is_told() -> None:
    frame = encode("RESULT", b"payload")
    head, body, end, _ = frame.split("\n")
    digest = hashlib.sha256(b"payload").hexdigest()
    assert head == f"-----BEGIN MOORING NOTEBOOK RESULT 7 {digest}-----"
    assert end == "-----END MOORING NOTEBOOK RESULT-----"
    assert decode(frame, "RESULT", 7) == b"payload"
    other = "the RESULT frame in the log has other than the"
    for log, said in {
        "": "the log has no RESULT frame: the runner was stopped before it reported, or the log was cut",
        encode(
            ARTIFACT, b"x"
        ): "the log has no RESULT frame: the runner was stopped before it reported, or the log was cut",
        f"{head}\n{body}": "the RESULT frame in the log has no end: the runner was stopped while it reported",
        f"{head}\n{body[:-1]}\n{end}": "the RESULT frame in the log cannot be read: ",
        f"{head.replace(' 7 ', ' 8 ')}\n{body}\n{end}": f"{other} 8 bytes that it claims",
        f"{head.replace(' 7 ', ' 6 ')}\n{body}\n{end}": f"{other} 6 bytes that it claims",
        f"{head.replace(' 7 ', ' 10 ')}\n{body}\n{end}": "the RESULT frame claims 10 bytes; at most 9 are read",
        f"{head.replace(digest, '0' * 64)}\n{body}\n{end}": (
            "the RESULT frame in the log differs from what the runner wrote: its digest is another"
        ),
    }.items():
        with pytest.raises(FrameError) as told:
            decode(log, "RESULT", 9)
        assert str(told.value).startswith(said), log
