"""The outputs of a cell in a form that can be compared: streams joined, mime types apart, images as bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from mooring.notebook_runner.comparison.images import image_content
from mooring.notebook_runner.settings import ComparisonRules

__all__ = ["IMAGE", "JSON", "TEXT", "OutputPart", "parts_of", "text_of"]

TEXT: Final = "text"
JSON: Final = "json"
IMAGE: Final = "image"

# Names of widgets are drawn anew in each run, and say nothing of what they show.
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class OutputPart:
    """One comparable thing: a stream, an error, or one mime type of a rich output."""

    name: str
    kind: str
    content: Any
    shown: str


def parts_of(cell: dict[str, Any], rules: ComparisonRules) -> list[OutputPart]:
    """Standard output first, then standard error, then the others in order.

    Kernels send the two streams and everything else over different ways, so that their order is not that of the code.
    """
    ignored = set(rules.ignore_output_types)
    streams: dict[str, str] = {}
    others: list[OutputPart] = []
    for output in cell.get("outputs", ()):
        kind = output["output_type"]
        if kind in ignored:
            continue
        if kind == "stream":
            name = output.get("name", "stdout")
            if name not in ignored:
                streams[name] = streams.get(name, "") + text_of(output.get("text", ""))
        elif kind == "error":
            others.append(_error(output, rules))
        else:
            others += _bundle(output, kind, ignored, rules)
    joined = [OutputPart(name, TEXT, streams[name], streams[name]) for name in sorted(streams, reverse=True)]
    return [part for part in joined if part.content] + others


def text_of(value: Any) -> str:
    """A text of a notebook, which may be stored as a list of lines."""
    return value if isinstance(value, str) else "".join(map(str, value))


def _error(output: dict[str, Any], rules: ComparisonRules) -> OutputPart:
    line = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    if rules.strategy == "exact":
        # With the traceback, in which the count of the cell and its colours stand.
        line = "\n".join([line, *map(str, output.get("traceback", ()))])
    return OutputPart("error", TEXT, line, line)


def _bundle(output: dict[str, Any], kind: str, ignored: set[str], rules: ComparisonRules) -> list[OutputPart]:
    data = output.get("data", {})
    parts = []
    if kind == "execute_result" and not rules.ignore_execution_count:
        count = str(output.get("execution_count"))
        parts.append(OutputPart("execution count", TEXT, count, f"execution count {count}"))
    for mime in sorted(data):
        family = mime.partition("/")[0] + "/*"
        if mime in ignored or family in ignored or (mime == _WIDGET and rules.strategy != "exact"):
            continue
        parts.append(_rich(f"{kind} {mime}", mime, data[mime]))
    return parts


def _rich(name: str, mime: str, value: Any) -> OutputPart:
    if mime == "application/json" or mime.endswith("+json"):
        return OutputPart(name, JSON, value, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False))
    text = text_of(value)
    if mime.startswith(("image/", "audio/", "video/")) and mime != "image/svg+xml":
        try:
            content = base64.b64decode("".join(text.split()), validate=True)
        except (binascii.Error, ValueError):
            return OutputPart(name, TEXT, text, text)
        digest = hashlib.sha256(content).hexdigest()[:16]
        return OutputPart(name, IMAGE, image_content(content), f"{mime}, {len(content)} bytes, sha256 {digest}…")
    return OutputPart(name, TEXT, text, text)
