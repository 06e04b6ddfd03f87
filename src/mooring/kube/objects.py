"""Plain API objects: JSON as Python has it."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
