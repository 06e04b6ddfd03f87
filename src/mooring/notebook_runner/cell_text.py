"""The outputs of a cell as plain text, for a status and for a terminal."""

from __future__ import annotations

from typing import Any

from mooring.notebook_runner.comparison.normalizers import without_ansi
from mooring.notebook_runner.comparison.outputs import text_of

__all__ = ["output_text", "traceback_text"]


def output_text(cell: dict[str, Any]) -> str:
    """What was printed and shown, in order; what has no text is named by its mime type."""
    return "\n".join(text for text in map(_text, cell.get("outputs", ())) if text)


def traceback_text(cell: dict[str, Any]) -> str:
    """Of the error that ended the cell, without colours."""
    for output in reversed(cell.get("outputs", ())):
        if output["output_type"] == "error":
            return without_ansi("\n".join(map(str, output.get("traceback", ()))))
    return ""


def _text(output: dict[str, Any]) -> str:
    kind = output["output_type"]
    if kind == "stream":
        return without_ansi(text_of(output["text"])).rstrip("\n")
    if kind == "error":
        return f"{output['ename']}: {output['evalue']}"
    data = output.get("data", {})
    if "text/plain" in data:
        return text_of(data["text/plain"])
    return ", ".join(f"[{mime}]" for mime in sorted(data))
