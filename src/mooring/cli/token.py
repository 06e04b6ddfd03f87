"""`mooring token`: users of the cluster that `mooring up` runs; their tokens made, listed and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mooring.cli.command_group import CommandGroup
from mooring.cli.durations import lifetime
from mooring.cli.errors import Command, exit_code
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.apiserver.authentication.token_file import Token

_ROLES: Final = ("view", "edit", "admin", "cluster-admin")
_COLUMNS: Final = ("NAME", "GROUPS", "ROLE", "CREATED", "EXPIRES", "STATE")

_data = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=".mooring",
    show_default=True,
    metavar="DIR",
    help="Folder of the cluster.",
)


@click.group(cls=CommandGroup)
def command() -> None:
    """Let others use the cluster of mooring up."""


@command.command("create", cls=Command)
@click.argument("name")
@click.option("--role", type=click.Choice(_ROLES), help="What the user may do; without it, what RBAC says elsewhere.")
@click.option(
    "-n", "--namespace", default="", metavar="NAMESPACE", help="Where the role counts; without it, everywhere."
)
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="A group the user is in; may be repeated.")
@click.option("--expires", callback=lifetime, metavar="TIME", help="How long the token counts, such as 30d or 12h.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a kubeconfig for the user there, instead of printing the token.",
)
@_data
@exit_code
def create(
    name: str,
    role: str | None,
    namespace: str,
    groups: tuple[str, ...],
    expires: timedelta | None,
    kubeconfig: Path | None,
    data: Path,
) -> int:
    """Make a bearer token for the user NAME and print it. It cannot be read again later.

    \b
      mooring token create ada --role edit --namespace shop --expires 30d
      mooring token create ci --group deployers --kubeconfig ci.kubeconfig

    A server that runs accepts it at once.
    """
    from mooring.apiserver.authentication.token_file import add_token, remove_token

    path = _tokens(data)
    config = None if kubeconfig is None else _NewKubeconfig(kubeconfig, data)
    until = None if expires is None else (datetime.now(UTC) + expires).replace(microsecond=0)
    token = add_token(path, name, groups, role=role or "", namespace=namespace, expires=until)
    if config is None:
        click.echo(token)
    else:
        try:
            config.write(name, token)
        except BaseException:
            # Nobody has seen the token, and nobody will.
            remove_token(path, name)
            raise
        click.echo(f"{kubeconfig} written", err=True)
    if role is None:
        given = f"its groups ({', '.join(groups)})" if groups else "everybody"
        click.echo(
            f'note: "{name}" has no role, and may do what bindings give to that name and to {given}; see --role',
            err=True,
        )
    return 0


@command.command("list", cls=Command)
@click.option("-o", "--output", "form", type=click.Choice(("text", "json")), default="text", help="How to answer.")
@_data
@exit_code
def list_(form: str, data: Path) -> int:
    """Show who has a token, what it was made with, and whether it counts.

    \b
      mooring token list
    """
    from mooring.apiserver.authentication.token_file import read_tokens

    now = datetime.now(UTC)
    tokens = sorted(read_tokens(_tokens(data)), key=lambda token: token.name)
    if form == "json":
        import json

        click.echo(json.dumps([_as_data(token, now) for token in tokens], indent=2))
        return 0
    rows = [_COLUMNS, *(_as_row(token, now) for token in tokens)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


@command.command("revoke", cls=Command)
@click.argument("name")
@_data
@exit_code
def revoke(name: str, data: Path) -> int:
    """Take the token of the user NAME back, with its role. What it has open is closed within a second.

    \b
      mooring token revoke ada
    """
    from mooring.apiserver.authentication.token_file import remove_token

    remove_token(_tokens(data), name)
    click.echo(f'token of "{name}" revoked')
    return 0


def _tokens(data: Path) -> Path:
    from mooring.supervisor.data_folder import DataFolder

    path = DataFolder(data).tokens
    if not path.exists():
        raise InputError(f"{data} is not the folder of a cluster; run mooring up once, or name its folder with --data")
    return path


class _NewKubeconfig:
    """A kubeconfig that does not exist yet; what keeps it from being written is said before a token is made."""

    def __init__(self, path: Path, data: Path) -> None:
        from mooring.client.kubeconfig_files import read_plain
        from mooring.client.own_kubeconfig import cluster_entry
        from mooring.supervisor.data_folder import DataFolder

        if path.exists():
            raise InputError(f"{path} exists already; name another file with --kubeconfig, or delete it first")
        if not path.parent.is_dir():
            raise InputError(f"{path.parent} is not a folder; name a file in one with --kubeconfig")
        admin = DataFolder(data).kubeconfig
        cluster = cluster_entry(read_plain(admin)) if admin.exists() else None
        if cluster is None:
            raise InputError(f"{admin} does not say where the cluster is; run mooring up once, and it is written again")
        self._path, self._cluster = path, cluster

    def write(self, name: str, token: str) -> None:
        from mooring.client.own_kubeconfig import user_config
        from mooring.manifests.emit import to_yaml
        from mooring.net.private_files import write_private

        write_private(self._path, to_yaml(user_config(self._cluster, name, token)).encode())


def _state(token: Token, now: datetime) -> str:
    if token.expired(now):
        return "expired"
    return "may do everything (made by an older version)" if token.legacy and not token.own else "active"


def _as_row(token: Token, now: datetime) -> tuple[str, ...]:
    from mooring.kube.times import timestamp

    role = f"{token.role} in {token.namespace}" if token.namespace else token.role
    created = "<unknown>" if token.created is None else timestamp(token.created)
    expires = "never" if token.expires is None else timestamp(token.expires)
    groups = ",".join(token.groups)
    return token.name, groups or "<none>", role or "<none>", created, expires, _state(token, now)


def _as_data(token: Token, now: datetime) -> dict[str, Any]:
    from mooring.kube.times import timestamp

    found: dict[str, Any] = {"name": token.name, "groups": list(token.groups)}
    if token.role:
        found["role"] = token.role
    if token.namespace:
        found["namespace"] = token.namespace
    for field, value in (("created", token.created), ("expires", token.expires)):
        if value is not None:
            found[field] = timestamp(value)
    state = "expired" if token.expired(now) else "legacy" if token.legacy and not token.own else "active"
    return {**found, "state": state}
