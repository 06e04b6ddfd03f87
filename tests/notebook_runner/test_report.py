"""A report is one file that asks for nothing, and nothing that a notebook prints becomes a part of the page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from mooring.notebook_runner.artifact import MAX_FRAME_CHARACTERS, artifact_frame
from mooring.notebook_runner.comparison.comparison import compared
from mooring.notebook_runner.frames import ARTIFACT, decode
from mooring.notebook_runner.report.cells import seconds_of
from mooring.notebook_runner.report.page import report_page
from mooring.notebook_runner.result import CellOutcome, RunResult
from mooring.notebook_runner.settings import ComparisonRules, RunnerSettings
from tests.notebook_runner.notebooks import code, error, markdown, notebook, png, printed, result, shown

EVIL = "<script src='https://evil.example/x.js'></script><img src=https://evil.example/x.png onerror=alert(1)>"


class Tags(HTMLParser):
    """Elements of a page and whether they are closed."""

    VOID = ("meta", "img", "!doctype", "path", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page_of(ran: dict[str, Any], golden: dict[str, Any] | None = None, name: str = "a.ipynb") -> str:
    rules = ComparisonRules()
    found = None if golden is None else compared(ran, golden, rules)
    outcomes = tuple(
        CellOutcome(index, "Success" if cell["cell_type"] == "code" else "Skipped", "12ms", "x", EVIL)
        for index, cell in enumerate(ran["cells"])
    )
    verdict = RunResult("Failed", "ComparisonFailed", EVIL, outcomes, found, 3, 2, 0, (EVIL,), (("kernel", EVIL),))
    return report_page(name, ran, golden, verdict, RunnerSettings("x"))


def test_a_page_asks_for_nothing_and_runs_nothing() -> None:
    ran = notebook(
        markdown(EVIL),
        code(EVIL, printed(EVIL), printed(EVIL, "stderr"), result(EVIL, html=EVIL), error("E", EVIL, EVIL)),
        code("", shown({"text/html": EVIL}), shown({"image/png": f'x" onerror="{EVIL}'})),
        code("", shown({"image/svg+xml": f"<svg>{EVIL}</svg>"}), shown({"application/json": {"a": EVIL}})),
    )
    page = page_of(ran, notebook(*(code("", printed("golden " + EVIL)) for _ in range(6))), name=EVIL)
    tags = Tags(page)
    assert tags.open == []
    names = {tag for tag, _ in tags.seen}
    assert not names & {"script", "link", "iframe", "object", "embed", "base", "form"}
    for tag, attributes in tags.seen:
        assert not [name for name in attributes if name.startswith("on")], tag
        for value in (attributes.get("src"), attributes.get("href")):
            assert value is None or value.startswith(("data:image/", "#cell-")), value
    policy = next(attributes["content"] for tag, attributes in tags.seen if "http-equiv" in attributes)
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    style = page[page.index("<style>") : page.index("</style>")]
    assert "@import" not in style
    assert not re.findall(r"url\((?!\"data:)", style)


def test_a_page_is_light_and_dark_and_links_every_cell() -> None:
    page = page_of(notebook(markdown("# T"), "1"))
    assert "prefers-color-scheme: dark" in page
    assert 'href="#cell-1"' in page
    assert 'id="cell-1"' in page


def test_a_page_tells_cells_that_succeeded_from_those_that_failed_or_were_not_run() -> None:
    ran = notebook("1", "1/0", "2", "3")
    outcomes = (CellOutcome(0, "Success"), CellOutcome(1, "Failure"), CellOutcome(2, "Skipped"))
    verdict = RunResult("Failed", "NotebookExecutionFailed", "", outcomes, None, 4, 4, 1)
    page = report_page("a.ipynb", ran, None, verdict, RunnerSettings("x"))
    assert re.findall(r'id="cell-\d"><header><i class="i (\w+)">', page) == ["ok", "bad", "off", "off"]
    assert re.findall(r'href="#cell-\d"><i class="i (\w+)">', page) == ["ok", "bad", "off", "off"]


def test_a_difference_is_shown_with_both_images() -> None:
    one, other = png(1), png(2)
    page = page_of(notebook(code("", shown({"image/png": one}))), notebook(code("", shown({"image/png": other}))))
    assert page.count(one) == 2
    assert page.count(other) == 1
    assert "Golden" in page


def test_a_cell_that_only_the_golden_notebook_has_is_shown() -> None:
    page = page_of(notebook("1"), notebook("1", code("", printed("more"))))
    assert "only in the golden notebook" in page


def test_a_large_artefact_is_cut_until_it_fits() -> None:
    import random

    noise = random.Random(1).randbytes(1 << 20).hex()
    ran = notebook(code("", printed(noise)), code("", shown({"image/png": noise})), code("", printed("small")))
    frame = artifact_frame(ran, page_of)
    assert len(frame) <= MAX_FRAME_CHARACTERS
    cells = json.loads(decode(frame, ARTIFACT))["executed"]["cells"]
    assert cells[0]["outputs"][0]["text"].endswith(f"… [{len(noise)} characters]")
    assert "image/png cut by the runner" in cells[1]["outputs"][0]["data"]["text/plain"]
    assert cells[2]["outputs"][0]["text"] == "small"


def test_an_artefact_of_more_than_four_mebibytes_is_cut() -> None:
    import random

    noise = random.Random(1).randbytes(3 << 20).hex()
    frame = artifact_frame(notebook(code("", printed(noise))), lambda _: "")
    assert len(frame) < 4 << 20
    assert json.loads(decode(frame, ARTIFACT))["executed"]["cells"][0]["outputs"][0]["text"].endswith("characters]")


def test_durations_are_read_back() -> None:
    assert [seconds_of(text) for text in ("", "0s", "250ms", "1.5s", "2m3s", "1h0m0s")] == [0, 0, 0.25, 1.5, 123, 3600]
