"""The folder of one run of Helm: its caches, the kubeconfig that it acts with and the values of a chart.

Only this user can look into it. It is removed when the run ends; what a killed process left is removed before the next
run for the same object begins, which is why its name follows from the object.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mooring.client.access import Access
from mooring.features.installation.api.installation import Requester
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["kubeconfig_for", "private_folder", "write_private"]

_FILES: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


@contextmanager
def private_folder(uid: str) -> Iterator[Path]:
    above = Path(tempfile.gettempdir()) / f"mooring-helm-{os.getuid()}"
    above.mkdir(mode=0o700, exist_ok=True)
    found = above.lstat()
    if not above.is_dir() or above.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise MooringError(f"{above} can be read by others; remove it, and it is made again")
    folder = above / hashlib.sha256(uid.encode()).hexdigest()[:32]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_private(path: Path, text: str) -> Path:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def kubeconfig_for(access: Access, requester: Requester) -> str:
    """A kubeconfig with this process's access to the API server, for requests with somebody else's rights."""
    if access.cluster is None or access.user is None:
        raise MooringError(f"how other programs reach {access.server} is not known; give mooring run a kubeconfig")
    user: Object = {**_found_from_anywhere(access.user), "as": requester.username, "as-groups": list(requester.groups)}
    name = "mooring"
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": _found_from_anywhere(access.cluster)}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        }
    )


def _found_from_anywhere(section: Mapping[str, Any]) -> Object:
    """Files by their whole paths: ours count from where this process runs, those of a kubeconfig from its folder."""
    return {name: str(Path(value).absolute()) if name in _FILES else value for name, value in section.items()}
