"""Objects that outlive the process: a SQLite file under the registry, written in batches and read only at the start."""

from mooring.apiserver.sqlite.errors import DataFolderError, StorageFailed
from mooring.apiserver.sqlite.storage import SqliteStorage

__all__ = ["DataFolderError", "SqliteStorage", "StorageFailed"]
