"""What a cell keeps of its output: a limit of characters, which begins anew when the cell clears what it has shown."""

from __future__ import annotations

from typing import Any

import nbformat.v4
import pytest

from mooring.notebook_runner.execution import client as capped
from mooring.notebook_runner.execution.client import CappedClient


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> CappedClient:
    monkeypatch.setattr(capped, "MAX_CELL_CHARACTERS", 10)
    made = CappedClient(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("")]))
    # As at the start of a cell.
    made.clear_before_next_output = False
    return made


def printed(client: CappedClient, outs: list[Any], text: str) -> None:
    content = {"name": "stdout", "text": text}
    # nbclient adds an output to the cell by itself; what it returns stands for the last one.
    message = {"msg_type": "stream", "content": content, "header": {"msg_type": "stream"}, "parent_header": {}}
    made = client.output(outs, message, None, 0)
    if made is not None and made not in outs:
        outs.append(made)


def shown(outs: list[Any]) -> str:
    return "".join(out["text"] for out in outs)


def cleared(client: CappedClient, outs: list[Any], *, wait: bool) -> None:
    client.clear_output(outs, {"content": {"wait": wait}, "parent_header": {}}, 0)


def test_what_is_over_the_limit_is_dropped(client: CappedClient) -> None:
    outs: list[Any] = []
    for text in ("12345", "67890", "more"):
        printed(client, outs, text)
    assert shown(outs) == "1234567890"


def test_a_cell_that_clears_its_output_may_fill_it_again(client: CappedClient) -> None:
    outs: list[Any] = []
    printed(client, outs, "1234567890")
    cleared(client, outs, wait=False)
    assert outs == []
    printed(client, outs, "0987654321")
    assert shown(outs) == "0987654321"


def test_output_that_is_to_be_cleared_by_the_next_counts_until_then(client: CappedClient) -> None:
    outs: list[Any] = []
    printed(client, outs, "1234567890")
    cleared(client, outs, wait=True)
    assert shown(outs) == "1234567890"
    printed(client, outs, "0987654321")
    assert shown(outs) == "0987654321"
