"""Reads a notebook from a file as plain data of format 4, and says what is wrong with a file that is none."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

__all__ = ["NotANotebook", "read_notebook"]


class NotANotebook(ValueError):
    """The sentence names the file."""


def read_notebook(path: str) -> dict[str, Any]:
    """Texts in it are whole, never lists of lines."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotANotebook(f"{path} does not exist") from None
    except IsADirectoryError:
        raise NotANotebook(f"{path} is a folder, not a notebook") from None
    except UnicodeDecodeError:
        raise NotANotebook(f"{path} is not a notebook: it is no text in UTF-8") from None
    except OSError as error:
        raise NotANotebook(f"{path} cannot be read: {error.strerror}") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotANotebook(f"{path} is not a notebook: it is no JSON ({error})") from None
    if not isinstance(data, dict) or not isinstance(data.get("nbformat"), int):
        raise NotANotebook(f"{path} is not a notebook: it is JSON without nbformat")
    return _of_format_4(path, data)


def _of_format_4(path: str, data: dict[str, Any]) -> dict[str, Any]:
    # Where it is installed, jsonschema builds its grammar at the import, for a second; no field of a notebook needs it.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    import nbformat

    try:
        notebook = nbformat.from_dict(data)
        if data["nbformat"] != 4:
            notebook = nbformat.convert(notebook, 4)
        notebook = nbformat.v4.rwbase.rejoin_lines(notebook)
        with warnings.catch_warnings():
            # Cells without an id are common, and of no matter here.
            warnings.simplefilter("ignore")
            nbformat.validate(notebook)
    except Exception as error:
        # A broken notebook makes nbformat raise whatever its own code stumbles over.
        sentence = str(error).strip().partition("\n")[0]
        raise NotANotebook(f"{path} is not a valid notebook: {sentence or type(error).__name__}") from None
    return notebook  # type: ignore[no-any-return]
