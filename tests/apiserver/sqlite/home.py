"""A data folder to tell stories with: open it, write, close it, and look what is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mooring.apiserver.sqlite import SqliteStorage
from mooring.kube.objects import Object

__all__ = ["configmap", "content", "opened", "put", "remove", "rows"]


@contextmanager
def opened(folder: Path, *, accept_loss: bool = False) -> Iterator[SqliteStorage]:
    storage = SqliteStorage(folder, accept_loss=accept_loss)
    try:
        yield storage
    finally:
        storage.close()


def configmap(name: str, revision: int, text: str = "", namespace: str = "default") -> Object:
    metadata = {"name": name, "namespace": namespace, "resourceVersion": str(revision)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": text}}


def put(storage: SqliteStorage, name: str, text: str = "", namespace: str = "default") -> None:
    revision = storage.revision + 1
    storage.put("configmaps", namespace, name, configmap(name, revision, text, namespace), revision)


def remove(storage: SqliteStorage, name: str, namespace: str = "default") -> None:
    storage.remove("configmaps", namespace, name, storage.revision + 1)


def content(storage: SqliteStorage) -> dict[str, str]:
    """The texts of all ConfigMaps by name."""
    return {each["metadata"]["name"]: each["data"]["text"] for each in storage.items("configmaps")}


def rows(storage: SqliteStorage) -> int:
    (count,) = storage._connection.execute("SELECT count(*) FROM changes").fetchone()
    return int(count)
