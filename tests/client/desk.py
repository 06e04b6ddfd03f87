"""A desk with kubeconfigs on it, for tests of how API servers are found."""

from __future__ import annotations

import base64
import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mooring.client.access import Access
from mooring.client.kubeconfig import KubeconfigError, find_access
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.net.certificates import ensure_certificates

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
CA = "certificate-authority-data"


class Desk:
    """A folder with kubeconfigs, a clock, and an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = NOW
        self.environ = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
        files = ensure_certificates(folder / "tls", ["localhost"], now=NOW)
        self.authority, self.certificate, self.key = (
            path.read_bytes() for path in (files.authority, files.certificate, files.key)
        )

    def write(self, name: str, content: str | Object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else to_yaml(content))
        return path

    def script(self, name: str, answer: Object | str, *, then: str = "") -> Path:
        """A plug-in that notes each of its runs and prints its answer."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        lines = ["#!/bin/sh", f'echo "$KUBERNETES_EXEC_INFO" >> {self.folder}/runs', f"cat <<'END'\n{text}\nEND", then]
        path = self.write(name, "\n".join(lines) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    @property
    def runs(self) -> list[Object]:
        path = self.folder / "runs"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def access(self, path: Path | None = None, context: str | None = None) -> Access:
        return find_access(
            path, context, environ=self.environ, service_account=self.folder / "account", clock=lambda: self.now
        )

    def to(self, cluster: Object | None = None, user: Object | None = None, **context: Any) -> Access:
        """Access by a kubeconfig with one cluster, user and context."""
        return self.access(self.write("config", self.config(cluster, user, **context)))

    def config(self, cluster: Object | None = None, user: Object | None = None, **context: Any) -> Object:
        return config(
            clusters={"c": {"server": "https://localhost:6443"} if cluster is None else cluster},
            users={"u": user or {}},
            contexts={"x": {"cluster": "c", "user": "u", **context}},
            current="x",
        )

    def complaint(self, cluster: Object | None = None, user: Object | None = None, **context: Any) -> str:
        with pytest.raises(KubeconfigError) as caught:
            self.to(cluster, user, **context)
        text = str(caught.value)
        start = f"{self.folder / 'config'}: "
        assert text.startswith(start), text
        return text.removeprefix(start)


def config(
    *, clusters: Object | None = None, users: Object | None = None, contexts: Object | None = None, current: str = ""
) -> Object:
    lists = {"cluster": clusters or {}, "user": users or {}, "context": contexts or {}}
    found: Object = {
        f"{field}s": [{"name": name, field: value} for name, value in items.items()] for field, items in lists.items()
    }
    return {"apiVersion": "v1", "kind": "Config", "current-context": current, **found}


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


async def refresh(access: Access) -> bool:
    return await access.refresh()
