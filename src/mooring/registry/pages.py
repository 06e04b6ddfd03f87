"""A page of a list costs what is on the page, however much is stored.

Later pages are of the revision of the first one. What has changed since then is taken from the history, and put in its
places among what has not.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from mooring.kube.json_errors import json_complaint, unmarshal_complaint
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError
from mooring.registry.core import Core
from mooring.registry.history import order
from mooring.registry.resources import Resource

__all__ = ["ObjectPage", "decode_token", "encode_token", "page_at"]


_TOKEN_VERSION: Final = "meta.k8s.io/v1"
_BASE64: Final = re.compile(r"[A-Za-z0-9_-]*").match


class ObjectPage(NamedTuple):
    """The objects of a page, the key it ends with if there are more, and how many there are, where that is known."""

    items: list[Object]
    end: str = ""
    remaining: int | None = None


def page_at(
    core: Core,
    resource: Resource,
    namespace: str | None,
    revision: int,
    start: str,
    limit: int,
    matches: Callable[[Object], bool] | None,
) -> ObjectPage:
    """The objects behind the key `start` as they were at a revision; ExpiredError when that cannot be told."""
    storage, store = core.storage, resource.store
    touched = core.history(store).touched(revision, namespace) if revision < storage.revision else {}
    stream = storage.after(store, namespace, start)
    if touched:
        earlier = [obj for obj in touched.values() if obj is not None and order(obj) > start]
        stream = merge(_without(stream, touched), sorted(earlier, key=order), key=order)
    if matches is not None:
        # The API neither counts what a selector would leave nor looks ahead whether it leaves anything.
        found: list[Object] = []
        for obj in stream:
            if len(found) == limit:
                return ObjectPage(found, order(found[-1]))
            if matches(obj):
                found.append(obj)
        return ObjectPage(found)
    items = list(islice(stream, limit))
    total = storage.count_after(store, namespace, start)
    for (space, name), before in touched.items():
        if f"{space}/{name}" > start:
            total += (before is not None) - (storage.get(store, space, name) is not None)
    if total <= len(items):
        return ObjectPage(items)
    return ObjectPage(items, order(items[-1]), total - len(items))


def _without(objects: Iterator[Object], touched: dict[tuple[str, str], Object | None]) -> Iterator[Object]:
    for obj in objects:
        metadata = obj["metadata"]
        if (metadata.get("namespace", ""), metadata["name"]) not in touched:
            yield obj


def encode_token(revision: int, start: str) -> str:
    text = json.dumps({"v": _TOKEN_VERSION, "rv": revision, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def decode_token(token: str) -> tuple[int, str]:
    """The revision and the last key that a page ended with."""
    text = _decoded(token)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _invalid_token(json_complaint(text) or str(error)) from None
    if not isinstance(value, dict):
        raise _invalid_token(unmarshal_complaint(value, "storage.continueToken"))
    version, revision, start = value.get("v", ""), value.get("rv", 0), value.get("start", "")
    if version != _TOKEN_VERSION:
        raise _invalid_token(f"server does not recognize this encoded version {version}")
    if not isinstance(revision, int) or not revision:
        raise _invalid_token(f"incorrect encoded start resourceVersion (version {_TOKEN_VERSION})")
    if not isinstance(start, str) or not start:
        raise _invalid_token(f"encoded start key empty (version {_TOKEN_VERSION})")
    return revision, start


def _decoded(token: str) -> bytes:
    """Base64 for URLs, without padding."""
    good = _BASE64(token)
    at = good.end() if good is not None else 0
    if at < len(token) or at % 4 == 1:
        raise _invalid_token(f"illegal base64 data at input byte {at if at < len(token) else at - 1}")
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


def _invalid_token(why: str) -> BadRequestError:
    return BadRequestError(f"invalid continue token: continue key is not valid: {why}")
