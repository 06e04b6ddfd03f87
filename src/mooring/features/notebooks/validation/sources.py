"""Repositories and notebooks in them: what git could not be asked for, and what must not stand in a job."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from mooring.features.notebooks.api.jobs import GitSource, NotebookSource
from mooring.kube.errors import FieldError, forbidden, invalid, required
from mooring.kube.names import is_dns1123_subdomain

__all__ = ["check_source"]

Errors = list[FieldError]

# Control characters and spaces, and what git allows in no name of a branch or tag.
_NO_REF: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.lock$|[./]$|^/")
_NO_URL: Final = re.compile(r"[\x00-\x20\x7f]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def check_source(errors: Errors, source: NotebookSource, path: str) -> None:
    _check_git(errors, source.git, f"{path}.git")
    parts = source.path.split("/")
    if source.path.startswith("/") or ".." in parts:
        errors.append(invalid(f"{path}.path", source.path, "must be below the root of the repository, without .."))
    elif ".git" in parts or _CONTROL.search(source.path):
        errors.append(invalid(f"{path}.path", source.path, "must name a file that git can hold"))


def _check_git(errors: Errors, git: GitSource, path: str) -> None:
    if _has_password(git.url):
        # The value is not repeated: it would stand in logs and terminals.
        detail = "must not contain credentials, which everybody would see; put them into credentialsSecret"
        errors.append(forbidden(f"{path}.url", detail))
    elif _NO_URL.search(git.url):
        errors.append(invalid(f"{path}.url", git.url, "must not contain spaces or control characters"))
    elif not _has_place(git.url):
        errors.append(invalid(f"{path}.url", git.url, "must name a host and a repository"))
    if not git.ref:
        errors.append(required(f"{path}.ref", "a branch, a tag or a commit"))
    elif git.ref.startswith("-") or _NO_REF.search(git.ref):
        errors.append(invalid(f"{path}.ref", git.ref, "must be a branch, a tag or a commit"))
    for text in is_dns1123_subdomain(git.credentials_secret) if git.credentials_secret else ():
        errors.append(invalid(f"{path}.credentialsSecret", git.credentials_secret, text))


def _has_password(url: str) -> bool:
    """A name alone is harmless with ssh, where everybody is called git; with https it may be a token."""
    scheme, separator, rest = url.partition("://")
    user, at, _ = rest.partition("/")[0].rpartition("@")
    return bool(separator and at) and (scheme.startswith("http") or ":" in user)


def _has_place(url: str) -> bool:
    if url.startswith("git@") and "://" not in url:
        host, colon, repository = url.removeprefix("git@").partition(":")
        return bool(host and colon and repository) and not host.startswith("-")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.hostname) and not str(parts.hostname).startswith("-") and parts.path.strip("/") != ""
