"""A page of a list costs what is on the page, however much is stored.

Later pages are of the revision of the first one. What has changed since then is taken from the history, and put in its
places among what has not.
"""

import base64
import json
from collections.abc import Callable, Iterator
from heapq import merge
from itertools import islice
from typing import NamedTuple

from mooring.kube.json_errors import json_complaint
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError
from mooring.registry.core import Core
from mooring.registry.history import order
from mooring.registry.resources import Resource

__all__ = ["ObjectPage", "decode_token", "encode_token", "page_at"]


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
        found = list(islice(filter(matches, stream), limit + 1))
        # The API does not count what a selector would leave.
        return ObjectPage(found) if len(found) <= limit else ObjectPage(found[:limit], order(found[limit - 1]))
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
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def decode_token(token: str) -> tuple[int, str]:
    """The revision and the last key that a page ended with."""
    text = b""
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        value = json.loads(text)
        revision, start = value["rv"], value["start"]
        if value["v"] != "meta.k8s.io/v1" or not isinstance(revision, int) or not isinstance(start, str):
            raise ValueError("it was not made here")
    except (ValueError, KeyError, TypeError) as error:
        why = json_complaint(text) if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else ""
        raise BadRequestError(f"invalid continue token: continue key is not valid: {why or error}") from None
    return revision, start
