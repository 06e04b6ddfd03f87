"""`mooring install`: has a cluster install a provider or the GPU Operator, with Helm, and shows how far it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.errors import Command, exit_code
from mooring.cli.runway.options import gpu_operator_options, kaito_options, output_option
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.kube.objects import Object

# What was asked for has ended otherwise.
_NOT_DONE: Final = 2


@click.command(cls=Command)
@click.argument("what")
@click.option("--version", metavar="VERSION", help="The version to install; otherwise the one that is set.")
@kaito_options
@gpu_operator_options
@click.option("--rollback", type=click.IntRange(min=1), metavar="REVISION", help="Go back to a revision of Helm's.")
@click.option("--cancel", is_flag=True, help="Stop what is being installed.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until it has ended, and show its steps.")
@output_option
@cluster_options
@exit_code
def command(
    what: str,
    version: str | None,
    kaito_version: str | None,
    kaito_repository: str | None,
    gpu_operator_version: str | None,
    gpu_operator_repository: str | None,
    rollback: int | None,
    cancel: bool,
    dry_run: bool,
    wait: bool,
    form: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Install WHAT in a cluster, or upgrade it, with Helm and your own rights: kaito or gpu-operator.

    \b
      mooring install kaito
      mooring install kaito --version 0.6.0
      mooring install kaito --rollback 1
      mooring install gpu-operator

    The exit code is 0 when it is installed and 2 when it is not.
    """
    from mooring.runway.providers.gpu_operator import GPU_OPERATOR
    from mooring.runway.providers.registry import find_installable
    from mooring.runway.settings import runway_settings

    chosen = find_installable(what)
    if chosen is GPU_OPERATOR:
        gpu_operator_version = version or gpu_operator_version
    else:
        kaito_version = version or kaito_version
    settings = runway_settings(kaito_version, kaito_repository, gpu_operator_version, gpu_operator_repository)
    wanted = chosen.installation(settings)
    if wanted is None:
        click.echo(f"{chosen.name} needs nothing installed.")
        return 0
    if rollback is not None and cancel:
        raise InputError("--rollback and --cancel exclude each other")
    if dry_run:
        _show_plan(wanted, form)
        return 0

    from mooring.runtime.drivers.eventloop import run

    transport, _ = connect(kubeconfig, context)
    ended = run(_installed(transport, wanted, rollback, cancel=cancel, wait=wait))
    if form != "text":
        _show_data(ended, form)
    status = ended.get("status") or {}
    if not wait:
        if form == "text":
            click.echo(
                f"Installation {wanted['metadata']['name']} is asked for; mooring installations shows how far it is."
            )
        return 0
    if form == "text":
        click.echo(status["message"])
    reached = "Cancelled" if cancel else "Installed"
    return 0 if status.get("phase") == reached else _NOT_DONE


async def _installed(
    transport: HttpTransport, wanted: Object, rollback: int | None, *, cancel: bool, wait: bool
) -> Object:
    from mooring.cli.installation.progress import follow
    from mooring.kube.status import ApiError
    from mooring.runway.operations import installation as operations
    from mooring.runway.sources.refusal import refusal

    name = wanted["metadata"]["name"]
    try:
        if cancel:
            made = await operations.cancel(transport, name)
        elif rollback is not None:
            made = await operations.roll_back(transport, name, rollback)
        else:
            made = await operations.install(transport, wanted)
        return await follow(transport, made) if wait else made
    except ApiError as error:
        raise refusal(transport.server, f"install {name}", error) from None
    finally:
        await transport.close()


def _show_plan(wanted: Object, form: str) -> None:
    from mooring.runway.operations.installation import commands_by_hand

    if form != "text":
        _show_data(wanted, form)
        return
    click.echo(f"Installation {wanted['metadata']['name']} would be asked for. By hand the same is:")
    for line in commands_by_hand(wanted):
        click.echo(f"  {line}")


def _show_data(obj: Object, form: str) -> None:
    from mooring.cli.render.data import encode

    click.echo(encode(obj, form), nl=False)
