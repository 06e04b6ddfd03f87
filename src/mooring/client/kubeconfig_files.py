"""Kubeconfig files as they are: read, merged by kubectl's rules, and every value still knowing where it stands.

Of several files the first that has an entry of a name wins, the whole entry; so does the first `current-context`.
Relative paths are relative to the file they stand in. Errors name the file and the field.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.manifests.errors import ManifestError
from mooring.manifests.loader import load

__all__ = ["Kubeconfig", "KubeconfigError", "KubeconfigSection", "default_files", "read_files", "read_plain"]


# The lists of a kubeconfig and the field that holds the content of their items.
_LISTS: Final = {"clusters": "cluster", "users": "user", "contexts": "context"}


class KubeconfigError(MooringError):
    """No way to an API server follows from what was given."""


@dataclass(frozen=True, slots=True)
class KubeconfigSection:
    """One mapping of a kubeconfig, and where it stands."""

    file: Path
    path: str
    values: Mapping[str, Any]

    def error(self, name: str, problem: str) -> KubeconfigError:
        return KubeconfigError(f"{self.file}: {self.path}.{name}: {problem}")

    def text(self, name: str) -> str:
        """A string, empty when it is not set."""
        value = self.values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            # What stands there may be a secret, so it is not shown.
            raise self.error(name, "must be a string")
        return value

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if not isinstance(value, bool | None):
            raise self.error(name, "must be true or false")
        return bool(value)

    def texts(self, name: str) -> list[str]:
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(name, "must be a list of strings")
        return value

    def section(self, name: str) -> KubeconfigSection | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(name, "must be a mapping")
        return KubeconfigSection(self.file, f"{self.path}.{name}", value)

    def sections(self, name: str) -> list[KubeconfigSection]:
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(name, "must be a list of mappings")
        return [KubeconfigSection(self.file, f"{self.path}.{name}[{index}]", item) for index, item in enumerate(value)]

    def located(self, name: str) -> Path | None:
        """A path, taken from the folder of the file where it is relative."""
        value = self.text(name)
        return self.file.parent / value if value else None

    def data(self, name: str) -> bytes | None:
        """What stands in `<name>-data` as base64, or in the file that `name` gives. Inline data win, as for kubectl."""
        inline = self.text(f"{name}-data")
        if inline:
            try:
                return base64.b64decode(inline, validate=True)
            except (binascii.Error, ValueError):
                raise self.error(f"{name}-data", "is not base64") from None
        path = self.located(name)
        return None if path is None else self.content(name, path)

    def content(self, name: str, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise self.error(name, f"{path} cannot be read: {error.strerror}") from None


@dataclass(slots=True)
class Kubeconfig:
    """Files merged into one. `files` are those that were there."""

    files: list[Path] = field(default_factory=list)
    current_context: str = ""
    clusters: dict[str, KubeconfigSection] = field(default_factory=dict)
    users: dict[str, KubeconfigSection] = field(default_factory=dict)
    contexts: dict[str, KubeconfigSection] = field(default_factory=dict)

    def add(self, file: Path, value: Object) -> None:
        """Merge another file: what is known already stays."""
        self.files.append(file)
        whole = KubeconfigSection(file, "kubeconfig", value)
        self.current_context = self.current_context or whole.text("current-context")
        for name, content in _LISTS.items():
            known: dict[str, KubeconfigSection] = getattr(self, name)
            for key, section in _entries(file, value, name, content).items():
                known.setdefault(key, section)


def _entries(file: Path, value: Object, name: str, content: str) -> dict[str, KubeconfigSection]:
    items = value.get(name)
    if not isinstance(items, list | None):
        raise KubeconfigError(f"{file}: {name}: must be a list")
    found: dict[str, KubeconfigSection] = {}
    for index, item in enumerate(items or ()):
        here = f"{name}[{index}]"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise KubeconfigError(f"{file}: {here}.name: required, and must be a string")
        key, inner = item["name"], item.get(content)
        if not isinstance(inner, dict | None):
            raise KubeconfigError(f"{file}: {here}.{content}: must be a mapping")
        if key in found:
            raise KubeconfigError(f'{file}: {here}.name: "{key}" is there twice')
        found[key] = KubeconfigSection(file, f'{name}["{key}"].{content}', inner or {})
    return found


def default_files(environ: Mapping[str, str]) -> list[Path]:
    """Where kubectl looks when no file is named: KUBECONFIG, and without it the one in the home folder."""
    named = environ.get("KUBECONFIG", "")
    if named:
        return [Path(part) for part in dict.fromkeys(named.split(os.pathsep)) if part]
    home = environ.get("HOME")
    return [Path(home) / ".kube" / "config"] if home else []


def read_files(files: Iterable[Path], *, required: bool) -> Kubeconfig:
    """The files merged, the first the strongest. Those that do not exist are left out unless they are required."""
    merged = Kubeconfig()
    for file in files:
        if required or file.exists():
            merged.add(file, read_plain(file))
    return merged


def read_plain(file: Path) -> Object:
    """One file as it stands; an empty one says nothing."""
    try:
        value = load(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise KubeconfigError(f"{file}: there is no such kubeconfig") from None
    except UnicodeDecodeError:
        raise KubeconfigError(f"{file}: is not UTF-8 text") from None
    except OSError as error:
        raise KubeconfigError(f"{file}: cannot be read: {error.strerror}") from None
    except ManifestError as error:
        raise KubeconfigError(str(ManifestError(error.problem, file=str(file), line=error.line))) from None
    if value is None:
        return {}
    if not isinstance(value, dict) or value.get("kind", "Config") != "Config":
        raise KubeconfigError(f"{file}: kind: is not that of a kubeconfig, Config")
    return value
