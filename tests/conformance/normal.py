"""Answers without what differs from run to run: identities become numbered names, moments and chance placeholders.

The numbering keeps what matters: two answers with the same `<rv 1>` are of the same revision, and an object that was
made anew has another `<uid 2>`.
"""

from __future__ import annotations

import re
from typing import Any

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
REVISION = re.compile(r"(?<=in record \()\d+(?=\))|(?<=too old resource version: )\d+ \(\d+\)|(?<=current: )\d+")
# A refused patch shows the whole object that it would have made.
WHOLE = re.compile(r'Invalid value: "\{\\"(?:[^"\\]|\\.)*"')
# A refused update shows the difference in the server's own structs, which are nobody's interface.
DIFFERENCE = re.compile(r"(?<=\n)(@@ |changed: ).*", re.DOTALL)
AGE = re.compile(r"\d+[smhd](\d+[smhd])?|<invalid>")
# The group of the custom kinds whose rules the cases break.
RULED = "rules.example.com"
CHANCE = {
    "clusterIP": "<ip>",
    "clusterIPs": ["<ip>"],
    "nodePort": "<port>",
    "healthCheckNodePort": "<port>",
    "continue": "<continue>",
}


class Normal:
    """One case's normalisation; it numbers what it meets in the order in which it meets it."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def body(self, value: Any, *, managed: bool = False) -> Any:
        return self._value("", value, managed)

    def _value(self, key: str, value: Any, managed: bool) -> Any:
        if isinstance(value, dict):
            return self._mapping(value, managed)
        if isinstance(value, list):
            return [self._value(key, item, managed) for item in value]
        if isinstance(value, str):
            return self._text(key, value)
        return value

    def _mapping(self, value: dict[str, Any], managed: bool) -> dict[str, Any]:
        # A storage version's hash is opaque by contract.
        hidden = {"storageVersionHash"} if managed else {"storageVersionHash", "managedFields"}
        if value.get("details") == {}:
            hidden = hidden | {"details"}
        if "priority" in value and "format" in value:
            # What a column is about is prose; no client reads it.
            hidden = hidden | {"description"}
        found = {key: item for key, item in value.items() if key not in hidden}
        if _is_floating(found):
            found = found | {"metadata": {**found["metadata"], "resourceVersion": "<list rv>"}}
        if "causes" in found and found["causes"][0].get("reason") == "FieldManagerConflict":
            # The real server goes through managers in the order of a Go map, which is chance.
            found = found | {"causes": sorted(found["causes"], key=lambda cause: str(cause["field"]))}
        if "causes" in found and found.get("group") == RULED:
            # What single fields are refused for comes in the order of a Go map as well, next to what rules say.
            found = found | {"causes": sorted(found["causes"], key=lambda cause: str(cause.get("field")))}
        if "managedFields" in found:
            # They are ordered by time, in which a second more or less is chance.
            found = found | {"managedFields": sorted(found["managedFields"], key=_manager)}
        for rules in ("resourceRules", "nonResourceRules"):
            # In the order of a Go map too.
            if rules in found:
                found = found | {rules: sorted(found[rules], key=str)}
        if "cells" in found:
            found = found | {"cells": [self._cell(cell) for cell in found["cells"]]}
        prefix = found.get("generateName")
        if prefix and str(found.get("name", "")).startswith(prefix):
            found = found | {"name": f"{prefix}<random>"}
        return {
            self._plain(key): CHANCE[key] if key in CHANCE and _is_chance(item) else self._value(key, item, managed)
            for key, item in found.items()
        }

    def _text(self, key: str, value: str) -> str:
        if MOMENT.fullmatch(value):
            return "<time>"
        if key == "resourceVersion" and value.isdigit() and value != "0":
            return self._versions.setdefault(value, f"<rv {len(self._versions) + 1}>")
        shown = WHOLE.sub("Invalid value: <object>", REVISION.sub("<rv>", self._plain(value)))
        shown = DIFFERENCE.sub("<difference>", shown)
        return UUID.sub(lambda match: self._uid(match[0]), shown)

    def _plain(self, value: str) -> str:
        return value.replace(self._namespace, "$NS")

    def _cell(self, cell: Any) -> Any:
        return "<age>" if isinstance(cell, str) and AGE.fullmatch(cell) else cell

    def _uid(self, uid: str) -> str:
        return self._uids.setdefault(uid, f"<uid {len(self._uids) + 1}>")


def _is_floating(value: dict[str, Any]) -> bool:
    """Lists and bookmarks carry the server's revision of the moment, not an object's."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "resourceVersion" not in metadata:
        return False
    return "items" in value or "rows" in value or ("uid" not in metadata and "name" not in metadata)


def _manager(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(entry.get(key, "") for key in ("manager", "operation", "subresource"))


def _is_chance(value: Any) -> bool:
    return value not in ("", "None", ["None"], None, 0)
