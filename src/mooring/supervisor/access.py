"""Who may use an embedded cluster from its first start: its administrator, by the kubeconfig, its controllers
and its node.

The administrator's token stands in the kubeconfig and nowhere else; what the server has is its hash. Should the two not
fit each other any more, a new token is made.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from mooring.apiserver.authentication.token_file import (
    TokenError,
    adopt_token,
    digest,
    put_token,
    read_tokens,
    remove_token,
)
from mooring.apiserver.authentication.users import MASTERS
from mooring.kube.node_identity import NODES, node_user
from mooring.net.private_files import write_private
from mooring.supervisor.data_folder import DataFolder

__all__ = ["CONTROLLERS_USER", "issue_controllers_token", "issue_node_token", "legacy_users", "write_kubeconfig"]

CONTROLLERS_USER: Final = "mooring-controllers"
"""The user that controllers act as; `own_rights` says what it may do."""

_OLD_NODE_USER: Final = "mooring-process-node"


def issue_controllers_token(folder: DataFolder) -> str:
    """A token for one start; it is handed over in memory and kept nowhere."""
    return put_token(folder.tokens, CONTROLLERS_USER)


def issue_node_token(folder: DataFolder, node: str) -> str:
    """A token for this machine as a node, for one start; in place of the one that older versions left."""
    with suppress(TokenError):
        remove_token(folder.tokens, _OLD_NODE_USER)
    return put_token(folder.tokens, node_user(node), [NODES])


def legacy_users(folder: DataFolder) -> list[str]:
    """Whose tokens were made by a version in which every token could do everything."""
    return [token.name for token in read_tokens(folder.tokens) if token.legacy]


def write_kubeconfig(folder: DataFolder, server: str) -> None:
    """Put this server into the folder's kubeconfig, and leave alone what else its user keeps there."""
    from mooring.client.kubeconfig_files import read_plain
    from mooring.client.own_kubeconfig import ADMIN, admin_token, with_cluster
    from mooring.manifests.emit import to_yaml

    before = read_plain(folder.kubeconfig) if folder.kubeconfig.exists() else {}
    token = admin_token(before)
    accepted = {known.digest for known in read_tokens(folder.tokens) if known.name == ADMIN}
    if token is None or digest(token) not in accepted:
        token = put_token(folder.tokens, ADMIN, [MASTERS])
    adopt_token(folder.tokens, ADMIN)
    authority = (folder.tls / "ca.crt").read_bytes()
    after = with_cluster(before, server=server, authority=authority, token=token)
    if after != before:
        write_private(folder.kubeconfig, to_yaml(after).encode())
