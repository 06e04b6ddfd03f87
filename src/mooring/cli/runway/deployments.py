"""`mooring deployments`: models that are deployed, one of them, its log, its metrics, and its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.command_group import CommandGroup
from mooring.cli.errors import Command, exit_code
from mooring.cli.runway.options import output_option

if TYPE_CHECKING:
    from mooring.runway.deployments.deployed_model import DeployedModel

_NAMESPACE = click.option("-n", "--namespace", default="", metavar="NAME", help="Its namespace; otherwise any.")
_NO_COLOR = click.option("--no-color", is_flag=True, help="No colour on a terminal; elsewhere there is none.")


@click.group(cls=CommandGroup, invoke_without_command=True)
@click.option("-n", "--namespace", default="", metavar="NAME", help="Only this namespace; otherwise all.")
@cluster_options
@output_option
@_NO_COLOR
@click.pass_context
def command(
    context_: click.Context, namespace: str, kubeconfig: Path | None, context: str | None, form: str, no_color: bool
) -> None:
    """List the models that are deployed, in all namespaces, the newest first.

    \b
      mooring deployments
      mooring deployments show phi-4
      mooring deployments logs phi-4 --tail 50
      mooring deployments metrics phi-4
      mooring deployments delete phi-4
    """
    if context_.invoked_subcommand is None:
        _list(namespace, kubeconfig, context, form, no_color)


@exit_code
def _list(namespace: str, kubeconfig: Path | None, context: str | None, form: str, no_color: bool) -> int:
    from mooring.cli.runway.session import open_session
    from mooring.runway.operations.deployments import list_deployments

    with open_session(kubeconfig, context) as session:
        usual = session.provider().id
        found = session.run(list_deployments(session.transport, usual, namespace), "list deployments")
    if form != "text":
        _echo({"deployments": [_data(each) for each in found]}, form)
        return 0
    if not found:
        click.echo("No models are deployed; deploy one with mooring deploy MODEL.")
        return 0
    from mooring.cli.render.page import TextColumn, TextPage
    from mooring.cli.render.screen import show_page

    heads = ("NAMESPACE", "NAME", "MODEL", "PROVIDER", "PHASE", "READY", "SERVICE", "MESSAGE")
    page = TextPage()
    page.table([TextColumn(head) for head in heads], map(_row, found), indent=0)
    show_page(page, colour=not no_color)
    return 0


@command.command("show", cls=Command)
@click.argument("name")
@_NAMESPACE
@cluster_options
@output_option
@_NO_COLOR
@exit_code
def show(name: str, namespace: str, kubeconfig: Path | None, context: str | None, form: str, no_color: bool) -> int:
    """How far deployment NAME is: its phase, its pods and their nodes, and where it answers."""
    from mooring.cli.runway.session import open_session
    from mooring.runway.operations.deployments import find_deployment

    with open_session(kubeconfig, context) as session:
        usual = session.provider().id
        found = session.run(find_deployment(session.transport, name, usual, namespace), f"read deployment {name}")
    if form != "text":
        _echo(_data(found), form)
        return 0
    from mooring.cli.render.page import TextColumn, TextPage
    from mooring.cli.render.screen import show_page

    page = TextPage()
    facts = {
        "Namespace": found.namespace,
        "Model": found.model_id,
        "Provider": found.provider,
        "Engine": found.engine,
        "Phase": found.phase,
        "Ready": f"{found.replicas.ready}/{found.replicas.desired}",
        "Service": found.frontend_service,
        "Message": found.message,
    }
    page.line(found.name, "bold")
    page.table([TextColumn(), TextColumn()], ((key, value) for key, value in facts.items() if value))
    if found.pods:
        page.title("Pods")
        heads = ("NAME", "PHASE", "READY", "RESTARTS", "NODE", "REASON")
        page.table(
            [TextColumn(head) for head in heads],
            (
                (each.name, each.phase, "yes" if each.ready else "no", str(each.restarts), each.node, each.reason)
                for each in found.pods
            ),
        )
    service, _, port = found.frontend_service.partition(":")
    page.title("Reach it")
    page.line(f"kubectl port-forward -n {found.namespace} service/{service} 8080:{port}", "command", 2, wrap=False)
    show_page(page, colour=not no_color)
    return 0


@command.command("delete", cls=Command)
@click.argument("name")
@_NAMESPACE
@cluster_options
@exit_code
def delete(name: str, namespace: str, kubeconfig: Path | None, context: str | None) -> int:
    """Delete deployment NAME with all that belongs to it."""
    from mooring.cli.runway.session import open_session
    from mooring.runway.operations.deployments import delete_deployment

    with open_session(kubeconfig, context) as session:
        usual = session.provider().id
        found = session.run(delete_deployment(session.transport, name, usual, namespace), f"delete deployment {name}")
    click.echo(f'deployment "{found.name}" deleted from {found.namespace} namespace')
    return 0


@command.command("logs", cls=Command)
@click.argument("name")
@_NAMESPACE
@click.option("--pod", default="", metavar="NAME", help="The pod; otherwise the first one that has a node.")
@click.option("-c", "--container", default="", metavar="NAME", help="The container, where a pod has several.")
@click.option(
    "--tail", type=click.IntRange(1, 10_000), default=100, show_default=True, metavar="N", help="How many lines."
)
@click.option("--timestamps", is_flag=True, help="With the time of each line.")
@cluster_options
@exit_code
def logs(
    name: str,
    namespace: str,
    pod: str,
    container: str,
    tail: int,
    timestamps: bool,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """The end of the log of deployment NAME."""
    from mooring.cli.runway.session import open_session
    from mooring.runway.operations.deployments import deployment_log

    with open_session(kubeconfig, context) as session:
        usual = session.provider().id
        asked = deployment_log(
            session.transport,
            name,
            usual,
            namespace,
            pod=pod,
            container=container,
            tail=tail,
            timestamps=timestamps,
        )
        found = session.run(asked, f"read the log of deployment {name}")
    click.echo(found.text, nl=False)
    return 0


@command.command("metrics", cls=Command)
@click.argument("name")
@_NAMESPACE
@cluster_options
@output_option
@exit_code
def metrics(name: str, namespace: str, kubeconfig: Path | None, context: str | None, form: str) -> int:
    """What the pods of deployment NAME answer at /metrics; the exit code is 2 where there is nothing."""
    from mooring.cli.runway.session import open_session
    from mooring.runway.operations.metrics import deployment_metrics

    with open_session(kubeconfig, context) as session:
        usual = session.provider().id
        asked = deployment_metrics(session.transport, name, usual, namespace)
        found = session.run(asked, f"read the metrics of deployment {name}")
    if form != "text":
        shown = [{"name": each.name, "value": each.number, "labels": each.labels} for each in found.samples]
        _echo({"available": bool(shown), "metrics": shown, "error": found.problem}, form)
    else:
        for each in found.samples:
            click.echo(each.line)
        if found.problem:
            click.echo(found.problem, err=True)
    return 0 if found.samples else 2


def _row(each: DeployedModel) -> tuple[str, ...]:
    ready = f"{each.replicas.ready}/{each.replicas.desired}"
    return (
        *(each.namespace, each.name, each.model_id, each.provider),
        *(each.phase, ready, each.frontend_service, each.message),
    )


def _data(each: DeployedModel) -> dict[str, Any]:
    import msgspec

    data: dict[str, Any] = msgspec.to_builtins(each)
    return data


def _echo(data: dict[str, Any], form: str) -> None:
    from mooring.cli.render.data import encode

    click.echo(encode(data, form), nl=False)
