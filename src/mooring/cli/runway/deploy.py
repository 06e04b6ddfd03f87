"""`mooring deploy`: a model on the nodes there are, previewed before it is created."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.durations import duration
from mooring.cli.errors import CANNOT_LAND, LANDS, MAY_LAND, Command, complain, exit_code
from mooring.cli.runway.options import kaito_options, output_option, snapshot_option
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.cli.runway.session import Session
    from mooring.kube.objects import Object
    from mooring.placement.snapshot import Snapshot
    from mooring.runway.deployments.config import DeploymentConfig
    from mooring.runway.fit import Fit
    from mooring.runway.settings import RunwaySettings

_VERDICTS = {"lands": LANDS, "may": MAY_LAND, "cannot": CANNOT_LAND}


@click.command(cls=Command)
@click.argument("model")
@click.option("--provider", default="", metavar="ID", help="kaito or mooring, which is the default on mooring up.")
@click.option("--name", default="", metavar="NAME", help="The name of the deployment; otherwise it follows from MODEL.")
@click.option("-n", "--namespace", default="", metavar="NAME", help="Its namespace; otherwise the one of the context.")
@click.option("--gpus", type=int, metavar="N", help="GPUs of each pod; otherwise as few as hold the model.")
@click.option("--replicas", type=int, metavar="N", help="How many answer side by side; 1 by default.")
@click.option("-l", "--selector", multiple=True, metavar="KEY=VALUE", help="A label of the nodes; may be repeated.")
@click.option(
    "--set", "fields", multiple=True, metavar="FIELD=VALUE", help="Any other field of a deployment; may be repeated."
)
@click.option("--dry-run", is_flag=True, help="Say what would be created and where it would land; create nothing.")
@click.option("--wait", is_flag=True, help="Wait until the model answers.")
@click.option(
    "--timeout", callback=duration, default="10m", show_default=True, metavar="TIME", help="How long --wait waits."
)
@snapshot_option
@cluster_options
@kaito_options
@output_option
@exit_code
def command(
    model: str,
    provider: str,
    name: str,
    namespace: str,
    gpus: int | None,
    replicas: int | None,
    selector: tuple[str, ...],
    fields: tuple[str, ...],
    dry_run: bool,
    wait: bool,
    timeout: timedelta,
    snapshots: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    kaito_version: str | None,
    kaito_repository: str | None,
    form: str,
) -> int:
    """Deploy MODEL, and say where its pods land, or what keeps them off all nodes and what would help.

    \b
      mooring deploy phi-4
      mooring deploy llama-3.3-70b-instruct --gpus 4 --replicas 2 --selector pool=h100
      mooring deploy llama3.2:1b --dry-run | kubectl apply -f -
      mooring deploy org/my-model --set hfTokenSecret=hf --set maxModelLen=8192

    MODEL is a name of the catalogue, or any id of Hugging Face, which vLLM serves. The exit code is 0 when every pod
    lands, 2 when one cannot, 3 when one may, because something about it cannot be known, and 1 when the input is wrong.
    With --wait it is 0 when the model answers in time, and 2 when it does not.
    """
    from mooring.cli.runway.asked_deployment import asked_deployment
    from mooring.cli.runway.session import open_session, snapshot_of_files
    from mooring.kube.status import ApiError
    from mooring.runway.settings import runway_settings

    if snapshots and not dry_run:
        raise InputError("nothing can be created in a snapshot: give --dry-run with --snapshot")
    if dry_run and wait:
        raise InputError("--dry-run creates nothing to --wait for: give one of them")
    settings = runway_settings(kaito_version, kaito_repository)
    asked = asked_deployment(
        model,
        name=name,
        provider=provider,
        namespace=namespace,
        gpus=gpus,
        replicas=replicas,
        selector=selector,
        fields=fields,
    )
    if snapshots:
        config, warnings = _read(asked, embedded=False, namespace="default")
        config, fit = _previewed(config, settings, snapshot_of_files(snapshots, kubeconfig, context))
        return _preview(config, settings, fit, warnings, form)
    with open_session(kubeconfig, context) as session:
        config, warnings = _read(asked, embedded=session.is_embedded(), namespace=session.namespace)
        warnings += _provider_warnings(session, config, settings)
        config, fit = _previewed(config, settings, session.snapshot())
        if dry_run:
            return _preview(config, settings, fit, warnings, form)
        try:
            created = _create(session, config, settings)
        except ApiError as error:
            if fit.verdict != "cannot":
                raise
            complain(str(error))
            for line in _help_lines(fit):
                click.echo(line, err=True)
            return CANNOT_LAND
        _tell(config, created, fit, warnings, form)
        return _wait(session, config, timeout) if wait else _VERDICTS[fit.verdict]


def _read(asked: Object, *, embedded: bool, namespace: str) -> tuple[DeploymentConfig, tuple[str, ...]]:
    from mooring.runway.providers.registry import read_deployment

    asked = {key: value for key, value in asked.items() if value != ""}
    return read_deployment(asked, embedded=embedded, namespace=namespace)


def _provider_warnings(session: Session, config: DeploymentConfig, settings: RunwaySettings) -> tuple[str, ...]:
    """What keeps the provider from running what is created."""
    from mooring.runway.operations.provider_facts import provider_facts
    from mooring.runway.providers.registry import PROVIDERS

    provider = PROVIDERS[config.provider]
    status = provider.status(session.run(provider_facts(session.transport, provider), "read providers"), settings)
    return () if status.installed else (status.message,)


def _previewed(config: DeploymentConfig, settings: RunwaySettings, snapshot: Snapshot) -> tuple[DeploymentConfig, Fit]:
    """The deployment with as many GPUs as its model needs, and whether it fits."""
    from mooring.runway.advised_size import advised_size, with_advised_size
    from mooring.runway.fit import deployment_fit
    from mooring.runway.problems import DeploymentError
    from mooring.runway.providers.deployment_kinds import selected_labels
    from mooring.runway.providers.registry import PROVIDERS, deployment_manifests

    selector = selected_labels(deployment_manifests(config, settings)[0])
    nodes = [node for node in snapshot.cluster.nodes if node is not None]
    config = with_advised_size(config, advised_size(config.model_id, nodes, selector))
    if problems := PROVIDERS[config.provider].validate(config):
        raise DeploymentError(problems)
    return config, deployment_fit(config, settings, snapshot)


def _preview(config: DeploymentConfig, settings: RunwaySettings, fit: Fit, warnings: tuple[str, ...], form: str) -> int:
    from mooring.manifests.emit import to_yaml
    from mooring.runway.providers.registry import deployment_manifests

    manifests = deployment_manifests(config, settings)
    if form != "text":
        _echo(config, manifests, fit, warnings, form)
        return _VERDICTS[fit.verdict]
    # Comments of YAML, so that the whole can be piped into kubectl apply.
    for line in (*_lines(config, fit), *(f"warning: {text}" for text in (*warnings, *fit.warnings))):
        click.echo(f"# {line}".rstrip())
    for manifest in manifests:
        click.echo("---")
        click.echo(to_yaml(manifest), nl=False)
    return _VERDICTS[fit.verdict]


def _lines(config: DeploymentConfig, fit: Fit) -> list[str]:
    """The answer in words."""
    from mooring.kube.words import counted

    each = f", {counted(config.gpus, 'GPU')} for each of its pods" if config.gpus else ""
    lines = [f"{config.model} by {config.provider}{each}: {fit.message}"]
    lines.append(f"nodes that match: {fit.matching}, of these ready: {fit.ready}, with room for a pod: {fit.fits}")
    return [*lines, *_help_lines(fit)]


def _help_lines(fit: Fit) -> list[str]:
    lines = ["what would help:"] if fit.advice else []
    for advice in fit.advice:
        lines.append(f"  {advice.text}")
        if advice.command:
            lines.append(f"    {advice.command}")
    return lines


def _create(session: Session, config: DeploymentConfig, settings: RunwaySettings) -> list[Object]:
    from mooring.kube.status import AlreadyExistsError, NotFoundError
    from mooring.runway.operations.create import create_deployment
    from mooring.runway.providers.registry import deployment_manifests

    work = create_deployment(session.transport, deployment_manifests(config, settings))
    try:
        return session.run(work, f"create deployment {config.name}")
    except AlreadyExistsError as error:
        way_out = f"delete it with mooring deployments delete {config.name}, or choose another --name"
        raise InputError(f"{error}; {way_out}") from None
    except NotFoundError as error:
        if 'namespaces "' in str(error):
            raise InputError(f"{error}; create it with kubectl create namespace {config.namespace}") from None
        raise InputError(f"{error}: provider {config.provider} is not installed; see mooring providers") from None


def _tell(config: DeploymentConfig, created: list[Object], fit: Fit, warnings: tuple[str, ...], form: str) -> None:
    if form != "text":
        _echo(config, created, fit, warnings, form)
        return
    for text in (*warnings, *fit.warnings):
        click.echo(f"warning: {text}", err=True)
    for obj in created:
        group = obj["apiVersion"].rpartition("/")[0]
        click.echo(f"{obj['kind'].lower()}{f'.{group}' if group else ''}/{obj['metadata']['name']} created")
    for line in _lines(config, fit):
        click.echo(line)
    click.echo(f"follow it with mooring deployments show {config.name} -n {config.namespace}")


def _echo(config: DeploymentConfig, objects: list[Object], fit: Fit, warnings: tuple[str, ...], form: str) -> None:
    import msgspec

    from mooring.cli.render.data import encode

    data: dict[str, Any] = {
        "deployment": msgspec.to_builtins(config),
        "resources": objects,
        "fit": msgspec.to_builtins(fit),
        "warnings": [*warnings],
    }
    click.echo(encode(data, form), nl=False)


def _wait(session: Session, config: DeploymentConfig, timeout: timedelta) -> int:
    from mooring.cli.runway.waiting import wait_until_running

    work = wait_until_running(session.transport, config, timeout.total_seconds())
    return LANDS if session.run(work, f"read deployment {config.name}") else CANNOT_LAND
