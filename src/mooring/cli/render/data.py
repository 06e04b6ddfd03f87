"""Answers for programs, as text: JSON for people to read too, or YAML."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.manifests.emit import to_yaml


def encode(data: dict[str, Any], form: str) -> str:
    if form == "yaml":
        return to_yaml(data)
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
