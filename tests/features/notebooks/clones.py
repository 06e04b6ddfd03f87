"""Running clone.sh as the init container of a validation pod does, and looking at everything it leaves behind."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

DATA = Path(__file__).parents[3] / "src" / "mooring" / "features" / "notebooks" / "data"
NOTEBOOK = "notebooks/train.ipynb"
DESTINATION = "work space/repo"


@dataclass(frozen=True)
class Clone:
    """One run: its exit code, the termination message, its log, and the folder that was cloned into."""

    code: int
    message: str
    log: str
    destination: Path
    temporary: Path

    def read(self, path: str = NOTEBOOK) -> str:
        return (self.destination / path).read_text(encoding="utf-8")


def clone(folder: Path, url: str, ref: str = "main", **more: Any) -> Clone:
    """Run it to its end; `more` is that of `start`."""
    process = start(folder, url, ref, **more)
    log, _ = process.communicate(timeout=60)
    message = folder / "message"
    said = message.read_text(encoding="utf-8") if message.exists() else ""
    return Clone(process.returncode, said, log, folder / DESTINATION, folder / "tmp")


def start(
    folder: Path,
    url: str,
    ref: str = "main",
    *,
    path: str = NOTEBOOK,
    secret: Mapping[str, str] | None = None,
    max_bytes: int = 100_000_000,
    timeout_seconds: int = 60,
    shell: tuple[str, ...] = ("dash",),
    programs: str | None = None,
    git_config: str = "",
) -> subprocess.Popen[str]:
    """`programs` is the PATH of the image, this machine's if it is None; `git_config` is in its home."""
    temporary, credentials, home = folder / "tmp", folder / "credentials", folder / "home"
    for place in (temporary, home):
        place.mkdir(parents=True)
    (home / ".gitconfig").write_text(git_config)
    if secret is not None:
        credentials.mkdir()
        for name, text in secret.items():
            (credentials / name).write_text(text)
    variables = {
        "GIT_URL": url,
        "GIT_REF": ref,
        "GIT_NOTEBOOK_PATH": path,
        "GIT_DESTINATION": str(folder / DESTINATION),
        "GIT_MAX_BYTES": str(max_bytes),
        "GIT_TIMEOUT_SECONDS": str(timeout_seconds),
        "GIT_CREDENTIALS": str(credentials),
        "TERMINATION_LOG": str(folder / "message"),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "PATH": os.environ["PATH"] if programs is None else programs,
    }
    return subprocess.Popen(
        [*shell, str(DATA / "clone.sh")], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def forms_of(secret: str) -> list[bytes]:
    """A secret as it could be written: as it is, percent-encoded, in base64 at each of the three offsets."""
    found = [secret.encode(), quote(secret, safe="").encode()]
    for offset in range(3):
        encoded = base64.b64encode(b"x" * offset + secret.encode()).rstrip(b"=")
        # The first and the last letters depend on the neighbours.
        found.append(encoded[4 if offset else 0 : -1])
    return found


def shows(data: bytes, *secrets: str) -> list[bytes]:
    """The forms of these secrets that are in the data."""
    return [form for secret in secrets for form in forms_of(secret) if form in data]
