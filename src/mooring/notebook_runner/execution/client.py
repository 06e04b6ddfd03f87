"""A client of a kernel that keeps so much of a cell's output and drops the rest.

A loop that prints for ever would otherwise take the memory of the runner, and then there is no result at all.
"""

from __future__ import annotations

from typing import Any, Final

from nbclient import NotebookClient
from nbformat import NotebookNode

__all__ = ["MAX_CELL_CHARACTERS", "CappedClient"]

MAX_CELL_CHARACTERS: Final = 2 << 20
MAX_CELL_OUTPUTS: Final = 1000


class CappedClient(NotebookClient):
    """Streams of one name are one output. What is dropped is counted, and the cell's last output says how much."""

    def __init__(self, notebook: NotebookNode, **options: Any) -> None:
        super().__init__(notebook, **options)
        self._kept: dict[int, int] = {}
        self._dropped: dict[int, int] = {}

    def output(self, outs: list[Any], msg: dict[str, Any], display_id: str | None, cell_index: int) -> Any:
        content = msg["content"]
        size = _size(content)
        if self.clear_before_next_output:
            self._kept[cell_index] = 0
        kept = self._kept.get(cell_index, 0)
        # The error that ends a cell is always kept.
        if msg["msg_type"] != "error" and (kept + size > MAX_CELL_CHARACTERS or len(outs) >= MAX_CELL_OUTPUTS):
            self._drop(content, kept, size, cell_index)
            if not content.get("text"):
                return None
        self._kept[cell_index] = kept + _size(content)
        if msg["msg_type"] == "stream" and not self.clear_before_next_output:
            for out in reversed(outs):
                if out["output_type"] == "stream" and out["name"] == content["name"]:
                    out["text"] += content["text"]
                    return out
        return super().output(outs, msg, display_id, cell_index)

    def clear_output(self, outs: list[Any], msg: dict[str, Any], cell_index: int) -> None:
        super().clear_output(outs, msg, cell_index)
        if not outs:
            self._kept[cell_index] = 0

    def _drop(self, content: dict[str, Any], kept: int, size: int, cell_index: int) -> None:
        room = max(0, MAX_CELL_CHARACTERS - kept)
        text = content.get("text")
        if isinstance(text, str):
            content["text"] = text[:room]
            size -= len(content["text"])
        self._dropped[cell_index] = self._dropped.get(cell_index, 0) + size

    def mark_dropped(self, cell: NotebookNode, cell_index: int) -> None:
        """Says in the cell itself that it had more."""
        dropped = self._dropped.pop(cell_index, 0)
        if dropped:
            text = f"[output cut by the runner: {dropped} more characters]\n"
            marker = NotebookNode(output_type="stream", name="stdout", text=text)
            cell["outputs"].append(marker)


def _size(content: dict[str, Any]) -> int:
    if isinstance(content.get("text"), str):
        return len(content["text"])
    data = content.get("data")
    return sum(len(part) if isinstance(part, str) else len(repr(part)) for part in data.values()) if data else 0
