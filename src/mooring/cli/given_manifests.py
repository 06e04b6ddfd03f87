"""The manifests that a command is given: files, folders, URLs, standard input, or what a kustomization comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import click

from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.runway.explain.asked_pods.given import GivenObject

__all__ = ["GivenManifests", "given_manifests", "manifest_options"]

F = TypeVar("F", bound=Callable[..., object])

# The names of manifests in a folder, as kubectl knows them.
_SUFFIXES: Final = (".json", ".yaml", ".yml")
_URLS: Final = ("http://", "https://")
# The largest manifests that projects publish, definitions of all their kinds included, are a few MB.
_MOST_URL_BYTES: Final = 16 * 2**20
_URL_SECONDS: Final = 30.0


class GivenManifests(NamedTuple):
    files: tuple[str, ...] = ()
    recursive: bool = False
    kustomization: str = ""

    def __bool__(self) -> bool:
        return bool(self.files or self.kustomization)

    def __str__(self) -> str:
        return ", ".join(self.files) or self.kustomization

    @property
    def urls(self) -> list[str]:
        return [given for given in self.files if given.startswith(_URLS)]

    def objects(self) -> Iterator[GivenObject]:
        """Every object in the order of the files, those of a folder by name."""
        from mooring.manifests import read_manifests
        from mooring.runway.explain.asked_pods.given import GivenObject

        if self.kustomization:
            yield from _kustomized(self.kustomization)
        for given in self.files:
            if given.startswith(_URLS):
                yield from _downloaded(given)
                continue
            for file in _files(given, recursive=self.recursive):
                for document in read_manifests(file):
                    yield GivenObject(document, None if file == "-" else file)


def manifest_options(command: F) -> F:
    """`-f`, `-R` and `-k`, which `given_manifests` takes."""
    filename = click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        metavar="FILE",
        help="Manifests to place: a file, a folder, a URL, or - for standard input.",
    )
    recursion = click.option("-R", "--recursive", is_flag=True, help="Read the folders in folders of -f too.")
    kustomize = click.option(
        "-k", "--kustomize", "kustomization", default="", metavar="DIR", help="What kubectl kustomize makes of DIR."
    )
    return filename(recursion(kustomize(command)))


def given_manifests(files: tuple[str, ...], recursive: bool, kustomization: str) -> GivenManifests:
    if files and kustomization:
        raise InputError("-f and -k cannot be given together")
    return GivenManifests(files, recursive, kustomization)


def _files(given: str, *, recursive: bool) -> list[str]:
    from pathlib import Path

    folder = Path(given)
    if given == "-" or not folder.is_dir():
        return [given]
    entries = folder.rglob("*") if recursive else folder.iterdir()
    found = sorted(str(entry) for entry in entries if entry.suffix in _SUFFIXES and entry.is_file())
    if not found:
        deeper = "" if recursive else "; -R looks into its folders too"
        raise InputError(f"{given}: holds no files that end in {', '.join(_SUFFIXES)}{deeper}")
    return found


def _downloaded(url: str) -> Iterator[GivenObject]:
    from io import BytesIO

    from mooring.manifests import read_manifest_stream
    from mooring.runway.explain.asked_pods.given import GivenObject

    for document in read_manifest_stream(BytesIO(_content(url)), url):
        yield GivenObject(document, None)


@cache
def _content(url: str) -> bytes:
    """What a URL holds. It is read once, also where manifests are read again."""
    import asyncio
    from urllib.parse import SplitResult
    from urllib.request import getproxies, proxy_bypass

    from mooring.net.download import download

    def proxy(where: SplitResult) -> str | None:
        # As Go programs have it, this machine is never asked for through a proxy.
        is_here = where.hostname in ("localhost", "::1") or (where.hostname or "").startswith("127.")
        return None if is_here or proxy_bypass(where.netloc) else getproxies().get(where.scheme)

    return asyncio.run(download(url, seconds=_URL_SECONDS, most_bytes=_MOST_URL_BYTES, proxy=proxy))


def _kustomized(folder: str) -> Iterator[GivenObject]:
    import subprocess
    from io import BytesIO

    from mooring.manifests import read_manifest_stream
    from mooring.runway.explain.asked_pods.given import GivenObject

    try:
        done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, check=False)
    except FileNotFoundError:
        raise InputError(
            "-k runs kubectl kustomize, and there is no kubectl in the PATH; install it, or use -f"
        ) from None
    if done.returncode:
        raise InputError(f"kubectl kustomize {folder}: {done.stderr.decode(errors='replace').removeprefix('error: ')}")
    for document in read_manifest_stream(BytesIO(done.stdout), f"kubectl kustomize {folder}"):
        yield GivenObject(document, None)
