"""Builders of notebooks and their outputs, as plain data."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def notebook(*cells: Cell | str, kernel: str = "python3") -> dict[str, Any]:
    made = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}


def code(source: str = "", *outputs: dict[str, Any], tags: tuple[str, ...] = (), count: int | None = None) -> Cell:
    metadata = {"tags": list(tags)} if tags else {}
    return {
        "cell_type": "code",
        "source": source,
        "metadata": metadata,
        "outputs": list(outputs),
        "execution_count": count,
    }


def markdown(source: str) -> Cell:
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def raw(source: str) -> Cell:
    return {"cell_type": "raw", "source": source, "metadata": {}}


def printed(text: str | list[str], name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def result(text: str, count: int = 1, html: str = "") -> dict[str, Any]:
    bundle = {"text/plain": text, **({"text/html": html} if html else {})}
    return {"output_type": "execute_result", "execution_count": count, "data": bundle, "metadata": {}}


def shown(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}


def error(name: str, value: str, *traceback: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": list(traceback)}


def png(pixel: int, *, software: str = "", level: int = 9) -> str:
    """A grey picture of one colour, 8 by 8, in base64."""
    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    lines = b"".join(b"\0" + bytes([pixel]) * 8 for _ in range(8))
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(lines, level)), (b"IEND", b"")]
    if software:
        parts.insert(1, (b"tEXt", b"Software\0" + software.encode()))
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    return b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


def written(path: Path, made: dict[str, Any]) -> Path:
    path.write_text(json.dumps(made), encoding="utf-8")
    return path
