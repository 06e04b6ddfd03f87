"""The Secrets of bootstrap tokens as controllers read them: found by metadata, read one by one by their names."""

from __future__ import annotations

from typing import Final

from mooring.api.core.bootstrap_tokens import NAMESPACE, PREFIX, BootstrapToken
from mooring.builtin.metadata_kinds import SECRET_METADATA
from mooring.runtime.reads import named
from mooring.runtime.view import View
from mooring.workloads.kinds import SECRET

SECRET_BY_NAME: Final = named(SECRET)


def bootstrap_tokens(view: View) -> dict[str, BootstrapToken]:
    """The bootstrap tokens there are, by the names of their Secrets."""
    found = {}
    for each in view.list(SECRET_METADATA, "namespace", NAMESPACE):
        name = each.metadata.name
        if not name.startswith(PREFIX) or each.metadata.deleting:
            continue
        secret = view.get(SECRET_BY_NAME, NAMESPACE, name)
        token = None if secret is None else BootstrapToken.of(name, secret.type, secret.data)
        if token is not None:
            found[name] = token
    return found
