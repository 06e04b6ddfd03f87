"""The artefact of a run: the executed notebook and the report, cut until their frame is small enough for a log."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from mooring.notebook_runner.comparison.outputs import text_of
from mooring.notebook_runner.frames import ARTIFACT, encode
from mooring.notebook_runner.result_limits import cut

__all__ = ["MAX_FRAME_CHARACTERS", "artifact_frame"]

MAX_FRAME_CHARACTERS: Final = 4 << 20
_OUTPUT_CHARACTERS: Final = (None, 256 << 10, 32 << 10, 4 << 10, 500)


def artifact_frame(notebook: dict[str, Any], page: Callable[[dict[str, Any]], str]) -> str:
    """`page` makes the report of a notebook. An empty text when even the sources of its cells are too large."""
    for most in _OUTPUT_CHARACTERS:
        small = notebook if most is None else with_short_outputs(notebook, most)
        made = {"executed": small, "report": page(small)}
        payload = json.dumps(made, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        frame = encode(ARTIFACT, payload)
        if len(frame) <= MAX_FRAME_CHARACTERS:
            return frame
    return ""


def with_short_outputs(notebook: dict[str, Any], most: int) -> dict[str, Any]:
    """A copy in which no output has more than so many characters; the marker of a cut says how many it had."""
    cells = [
        {**cell, "outputs": [_short(output, most) for output in cell["outputs"]]} if "outputs" in cell else cell
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def _short(output: dict[str, Any], most: int) -> dict[str, Any]:
    if "text" in output:
        return {**output, "text": cut(text_of(output["text"]), most)}
    if "traceback" in output:
        return {**output, "traceback": [cut(str(line), most) for line in output["traceback"][:50]]}
    data = {}
    for mime, value in output.get("data", {}).items():
        text = value if isinstance(value, str) else json.dumps(value)
        if len(text) <= most:
            data[mime] = value
        elif mime.startswith("text/"):
            data[mime] = cut(text, most)
        else:
            # Half an image is none.
            data.setdefault("text/plain", f"[{mime} cut by the runner: {len(text)} characters]")
    return {**output, "data": data}
