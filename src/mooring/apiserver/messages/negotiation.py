"""Content negotiation: the representation that a client's Accept header asks for.

The server answers in JSON: an object whole, as PartialObjectMetadata or as a Table; discovery plain or aggregated. Go
clients name protobuf first and JSON second and take JSON. Only a client that accepts no JSON gets another encoding:
YAML, or protobuf, which custom kinds do not have.
"""

from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from mooring.kube.status import ApiError

__all__ = [
    "PLAIN",
    "Encoding",
    "NotAcceptableError",
    "Representation",
    "negotiate",
    "negotiate_discovery",
    "negotiate_untabled",
    "negotiate_watch",
]

Encoding = Literal["json", "yaml", "protobuf"]
As = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList", "APIGroupDiscoveryList"]

_JSON: Final = frozenset({"application/json", "application/*", "*/*"})
_OTHERS: Final[dict[str, Encoding]] = {
    "application/yaml": "yaml",
    "application/vnd.kubernetes.protobuf": "protobuf",
}
_OBJECT_KINDS: Final[frozenset[As]] = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
_UNTABLED_KINDS: Final[frozenset[As]] = _OBJECT_KINDS - {"Table"}
_DISCOVERY_KINDS: Final[frozenset[As]] = frozenset({"APIGroupDiscoveryList"})
_META_VERSIONS: Final = frozenset({"v1", "v1beta1"})
_DISCOVERY_VERSIONS: Final = frozenset({"v2", "v2beta1"})


class Representation(NamedTuple):
    """The representation of an answer; `kind` is empty for plain JSON."""

    kind: As = ""
    version: str = ""
    encoding: Encoding = "json"


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
def negotiate(accept: str, *, custom: bool = False) -> Representation:
    """The form of objects and lists that an Accept header asks for; NotAcceptableError when there is none."""
    return _negotiated(accept, _OBJECT_KINDS, custom=custom)


@lru_cache(maxsize=64)
def negotiate_watch(accept: str, *, custom: bool = False) -> Representation:
    """The same for a stream of events, which has no form in YAML."""
    found = {name: each for name, each in _OTHERS.items() if each != "yaml"}
    try:
        return _negotiated(accept, _OBJECT_KINDS, found, custom)
    except NotAcceptableError:
        raise _refusal(f"{name};stream=watch" for name in ("application/json", *found)) from None


@lru_cache(maxsize=64)
def negotiate_untabled(accept: str, *, custom: bool = False) -> Representation:
    """The same for what has no rows: reviews, and tokens."""
    return _negotiated(accept, _UNTABLED_KINDS, custom=custom)


@lru_cache(maxsize=512)
def negotiate_discovery(accept: str) -> Representation:
    """The same for discovery: plain, or aggregated in one of its versions."""
    found = _first(accept, _JSON, _DISCOVERY_KINDS, "apidiscovery.k8s.io", _DISCOVERY_VERSIONS)
    if found is None:
        raise _refusal(("application/json",))
    return found[1]


def _negotiated(
    accept: str, kinds: frozenset[As], others: Mapping[str, Encoding] = _OTHERS, custom: bool = False
) -> Representation:
    found = _first(accept, _JSON, kinds, "meta.k8s.io", _META_VERSIONS)
    if found is not None:
        return found[1]
    found = _first(accept, others.keys(), kinds, "meta.k8s.io", _META_VERSIONS)
    if found is not None and not (found[1].kind == "Table" and others[found[0]] == "protobuf"):
        media, representation = found
        encoding = others[media]
        # What is reduced to its metadata is of a built-in kind again.
        if encoding != "protobuf" or representation.kind or not custom:
            return representation._replace(encoding=encoding)
    # A real server says the same of custom kinds.
    raise _refusal(("application/json", *_OTHERS))


def _first(
    accept: str, medias: Container[str], kinds: frozenset[As], group: str, versions: frozenset[str]
) -> tuple[str, Representation] | None:
    """The first form that can be served, with its media type; None if there is none."""
    if not accept.strip():
        return "", PLAIN
    for media, parameters, quality in _ranges(accept):
        if media not in medias or quality <= 0:
            continue
        wanted, version = parameters.get("as"), parameters.get("v", "")
        if not wanted:
            return media, PLAIN
        if parameters.get("g") != group or version not in versions:
            continue
        for kind in kinds:
            if kind == wanted:
                return media, Representation(kind, version)
    return None


def _refusal(medias: Iterable[str]) -> NotAcceptableError:
    return NotAcceptableError(f"only the following media types are accepted: {', '.join(medias)}")
