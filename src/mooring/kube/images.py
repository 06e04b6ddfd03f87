"""Reads the tag of a container image reference, because the default pull policy hangs on it."""

import re
from functools import lru_cache
from typing import Final

__all__ = ["image_tag"]

_HUB: Final = "docker.io"
_HOST_PART: Final = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_HOST: Final = rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH_PART: Final = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_PATH: Final = f"{_PATH_PART}(?:/{_PATH_PART})*"
_DIGEST: Final = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_reference = re.compile(
    rf"(?P<name>(?:{_HOST}/)?{_PATH})(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>{_DIGEST}))?", re.ASCII
).fullmatch
_name = re.compile(rf"(?:{_HOST}/)?(?P<path>{_PATH})", re.ASCII).fullmatch
_identifier = re.compile("[a-f0-9]{64}").fullmatch
_known_digest = re.compile("sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}").fullmatch


@lru_cache(maxsize=4096)
def image_tag(image: str) -> str:
    """The tag; `latest` when neither tag nor digest is given; empty when the reference cannot be read."""
    if _identifier(image):
        return ""
    domain, rest = _split_domain(image)
    found = _reference(f"{domain}/{rest}")
    if found is None:
        return ""
    name = _name(found["name"])
    digest = found["digest"]
    if name is None or len(name["path"]) > 255 or (digest and not _known_digest(digest)):
        return ""
    return found["tag"] or ("" if digest else "latest")


def _split_domain(image: str) -> tuple[str, str]:
    """The registry and the rest; a first part without dot, colon or capitals is no registry."""
    first, slash, rest = image.partition("/")
    if not slash or not (first == "localhost" or "." in first or ":" in first or first != first.lower()):
        first, rest = _HUB, image
    if first in (_HUB, "index.docker.io") and "/" not in rest:
        rest = f"library/{rest}"
    return first, rest
