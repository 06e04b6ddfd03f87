"""The objects that are asked about before they exist: from files, or from the body of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from mooring.kube.objects import Object
from mooring.manifests import Document

__all__ = ["Given", "GivenList", "GivenObject"]


class GivenObject(NamedTuple):
    document: Document[Object]
    # The file that a command can patch; None where none holds the object as it is.
    file: str | None


class Given(Protocol):
    """Its text is how errors call it."""

    def objects(self) -> Iterator[GivenObject]: ...


class GivenList(NamedTuple):
    """Objects in order, called by the field that they came in."""

    field: str
    values: Sequence[Object]

    def __str__(self) -> str:
        return self.field

    def objects(self) -> Iterator[GivenObject]:
        for number, value in enumerate(self.values, 1):
            yield GivenObject(Document(f"{self.field}[{number - 1}]", 1, None, value), None)
