"""Content negotiation: the representation that a client's Accept header asks for.

The server answers in JSON: an object whole, as PartialObjectMetadata or as a Table; discovery plain or aggregated. Go
clients name protobuf first and JSON second and take JSON; a client that accepts no JSON gets 406.
"""

from functools import lru_cache
from typing import Final, Literal, NamedTuple

from mooring.kube.status import ApiError

__all__ = ["PLAIN", "NotAcceptableError", "Representation", "negotiate", "negotiate_discovery"]

As = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList", "APIGroupDiscoveryList"]

_JSON: Final = frozenset({"application/json", "application/*", "*/*"})
_OBJECT_KINDS: Final[frozenset[As]] = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
_DISCOVERY_KINDS: Final[frozenset[As]] = frozenset({"APIGroupDiscoveryList"})
_META_VERSIONS: Final = frozenset({"v1", "v1beta1"})
_DISCOVERY_VERSIONS: Final = frozenset({"v2", "v2beta1"})


class Representation(NamedTuple):
    """The representation of an answer; `kind` is empty for plain JSON."""

    kind: As = ""
    version: str = ""


class NotAcceptableError(ApiError):
    code = 406
    reason = "NotAcceptable"


PLAIN: Final = Representation()


class _Range(NamedTuple):
    media: str
    parameters: dict[str, str]
    quality: float


def _ranges(accept: str) -> list[_Range]:
    found = []
    for item in accept.split(","):
        media, *rest = (part.strip() for part in item.split(";"))
        if not media:
            continue
        parameters, quality = {}, 1.0
        for pair in rest:
            name, _, value = pair.partition("=")
            value = value.strip().strip('"')
            if name.strip() == "q":
                quality = _quality(value)
            else:
                parameters[name.strip()] = value
        found.append(_Range(media.lower(), parameters, quality))
    # Equal ones stay in the order in which the client named them.
    return sorted(found, key=lambda each: -each.quality)


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


@lru_cache(maxsize=512)
def negotiate(accept: str) -> Representation:
    """The form of objects and lists that an Accept header asks for; NotAcceptableError when there is none."""
    return _first(accept, _OBJECT_KINDS, "meta.k8s.io", _META_VERSIONS)


@lru_cache(maxsize=512)
def negotiate_discovery(accept: str) -> Representation:
    """The same for discovery: plain, or aggregated in one of its versions."""
    return _first(accept, _DISCOVERY_KINDS, "apidiscovery.k8s.io", _DISCOVERY_VERSIONS)


def _first(accept: str, kinds: frozenset[As], group: str, versions: frozenset[str]) -> Representation:
    """The first form that can be served."""
    for media, parameters, quality in _ranges(accept):
        if media not in _JSON or quality <= 0:
            continue
        wanted, version = parameters.get("as"), parameters.get("v", "")
        if not wanted:
            return PLAIN
        if parameters.get("g") != group or version not in versions:
            continue
        for kind in kinds:
            if kind == wanted:
                return Representation(kind, version)
    if accept.strip():
        raise _refusal()
    return PLAIN


def _refusal() -> NotAcceptableError:
    return NotAcceptableError("only the following media types are accepted: application/json")
