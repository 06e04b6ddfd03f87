"""What drawn expressions are made of: literals, texts that mean something to functions, a template per overload."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

_WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
LITERALS: Final[dict[str, list[str]]] = _WORDS["literals"]
TEXTS: Final[dict[str, list[str]]] = _WORDS["texts"]
PRODUCTIONS: Final[dict[str, list[str]]] = _WORDS["productions"]
# Templates of expressions that a checker refuses.
WRONG: Final[list[str]] = _WORDS["wrong"]
