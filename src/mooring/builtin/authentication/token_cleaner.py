"""Deletes the Secrets of bootstrap tokens when they have expired."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.core.bootstrap_tokens import NAMESPACE
from mooring.api.kinds import Key
from mooring.builtin.authentication.bootstrap_secrets import SECRET_BY_NAME, bootstrap_tokens
from mooring.builtin.metadata_kinds import SECRET_METADATA
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete
from mooring.runtime.view import View


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    over = [
        name
        for name, token in bootstrap_tokens(view).items()
        if token.expires is not None and view.reached(token.expires)
    ]
    return Decision(children=tuple(Delete(SECRET_BY_NAME, Key(NAMESPACE, name)) for name in over))


CONTROLLER: Final = Controller(
    "token-cleaner", reconcile, reads=(SECRET_METADATA, SECRET_BY_NAME), writes={SECRET_BY_NAME: ("delete",)}
)
