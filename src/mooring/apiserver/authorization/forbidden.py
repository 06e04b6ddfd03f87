"""The refusal of a request that no authorizer allows, in the words of kube-apiserver."""

from __future__ import annotations

from typing import Any, Final

from mooring.apiserver.authorization.attributes import Attributes
from mooring.kube.errors import go_quote
from mooring.kube.status import ForbiddenError

__all__ = ["forbidden"]

# A refusal must not look like HTML to a browser.
_HARMLESS: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class _ForbiddenPathError(ForbiddenError):
    """The refusal of a request that is about no resource: its details are there and empty."""

    def status(self) -> dict[str, Any]:
        found = super().status()
        code = found.pop("code")
        return {**found, "details": {}, "code": code}


def forbidden(about: Attributes, reason: str) -> ForbiddenError:
    why = _message(about).translate(_HARMLESS) + (f": {reason}" if reason else "")
    if about.path:
        return _ForbiddenPathError(f"forbidden: {why}")
    return ForbiddenError.of(about.resource, about.group, about.name, why)


def _message(about: Attributes) -> str:
    who = f"User {go_quote(about.user.name)} cannot {about.verb}"
    if about.path:
        return f"{who} path {go_quote(about.path)}"
    resource = f"{about.resource}/{about.subresource}" if about.subresource else about.resource
    where = f"in the namespace {go_quote(about.namespace)}" if about.namespace else "at the cluster scope"
    return f"{who} resource {go_quote(resource)} in API group {go_quote(about.group)} {where}"
