"""Builders of Installations."""

from __future__ import annotations

from typing import Any

from mooring.features.installation.api.names import API_VERSION
from mooring.kube.objects import Object

__all__ = ["helm_chart", "installation"]

REQUESTER: Object = {"username": "ada", "groups": ["platform", "system:authenticated"]}


def helm_chart(name: str = "kaito-workspace", version: str = "0.8.0", **fields: Any) -> Object:
    made = {"name": name, "chart": "workspace", "version": version, "namespace": "kaito-workspace"}
    return {**made, "createNamespace": True, **fields}


def installation(name: str = "kaito", *charts: Object, url: str = "https://charts.example.com", **spec: Any) -> Object:
    """`spec` has further fields, as the API writes them."""
    repository = {"name": "kaito", "url": url}
    wanted = {"repository": repository, "charts": list(charts) or [helm_chart()], **spec}
    return {"apiVersion": API_VERSION, "kind": "Installation", "metadata": {"name": name}, "spec": wanted}
