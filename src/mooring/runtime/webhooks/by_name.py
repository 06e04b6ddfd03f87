"""Objects that a webhook reads by name: nobody follows them, so each is read live at the moment that it is asked for.

A view says what it lacks by raising; the object is read, put into a store of its own, and the function is asked again.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from mooring.api.kinds import Key, Kind
from mooring.kube.objects import Object
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.view import Unavailable

__all__ = ["store_of_one", "unread_object"]


def unread_object(error: Unavailable, stores: Container[Kind[Any]]) -> Key:
    """The object of `error.kind` that is to be read. Anything else that cannot be read is an error."""
    if error.kind.only is None or error.kind in stores:
        raise error
    return error.kind.only


def store_of_one(kind: Kind[Any], obj: Object | None) -> Store[Any]:
    store: Store[Any] = Store(kind)
    found = () if obj is None else (store.read(obj),)
    store.resync(found, max((each.version for each in found), default=0))
    return store
