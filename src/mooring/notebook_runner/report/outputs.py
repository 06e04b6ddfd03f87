"""Outputs of a cell as HTML that asks for nothing: text is escaped, images are in the page, HTML is not rendered.

HTML that a notebook makes may load scripts and pictures from anywhere; its text stands for it.
"""

from __future__ import annotations

import base64
import json
from html import escape
from typing import Any, Final

from mooring.notebook_runner.comparison.normalizers import without_ansi
from mooring.notebook_runner.comparison.outputs import text_of

__all__ = ["figures", "output_html", "pre"]

_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")


def output_html(output: dict[str, Any]) -> str:
    kind = output["output_type"]
    if kind == "stream":
        return pre(without_ansi(text_of(output["text"])), "stderr" if output["name"] == "stderr" else "output")
    if kind == "error":
        lines = "\n".join(map(str, output.get("traceback", ()))) or f"{output['ename']}: {output['evalue']}"
        return pre(without_ansi(lines), "error")
    return figures(output, "") or pre(_text(output.get("data", {})), "output")


def figures(output: dict[str, Any], caption: str) -> str:
    """The images of an output; an image that a page names is never asked for over a network."""
    data = output.get("data", {})
    found = [(mime, "".join(text_of(data[mime]).split())) for mime in _IMAGES if mime in data]
    if "image/svg+xml" in data:
        drawing = text_of(data["image/svg+xml"]).encode("utf-8", "replace")
        found.append(("image/svg+xml", base64.b64encode(drawing).decode()))
    shown = escape(text_of(data.get("text/plain", "image")))
    head = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return "".join(
        f'<figure>{head}<img alt="{shown}" src="data:{mime};base64,{escape(content)}"></figure>'
        for mime, content in found
    )


def pre(text: str, kind: str) -> str:
    text = text.rstrip("\n")
    return f'<pre class="{kind}">{escape(text)}</pre>' if text else ""


def _text(data: dict[str, Any]) -> str:
    for mime in ("text/plain", "text/markdown", "text/latex", "text/html"):
        if mime in data:
            return text_of(data[mime])
    return json.dumps(data, indent=1, ensure_ascii=False, default=str)
