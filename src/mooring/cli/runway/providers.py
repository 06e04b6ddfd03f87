"""`mooring providers`: what can run a model here, and how what is missing is installed."""

from __future__ import annotations

from pathlib import Path

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.errors import Command, exit_code
from mooring.cli.runway.options import kaito_options, output_option


@click.command(cls=Command)
@cluster_options
@kaito_options
@output_option
@click.option("--no-color", is_flag=True, help="No colour on a terminal; elsewhere there is none.")
@exit_code
def command(
    kubeconfig: Path | None,
    context: str | None,
    kaito_version: str | None,
    kaito_repository: str | None,
    form: str,
    no_color: bool,
) -> int:
    """List the providers of models, whether each can be used in this cluster, and how it is installed by hand.

    \b
      mooring providers
      mooring providers -o json
    """
    import msgspec

    from mooring.cli.runway.session import open_session
    from mooring.runway.operations.provider_facts import provider_facts
    from mooring.runway.providers.registry import PROVIDERS, default_provider
    from mooring.runway.settings import runway_settings

    settings = runway_settings(kaito_version, kaito_repository)
    with open_session(kubeconfig, context) as session:
        usual = default_provider(embedded=session.is_embedded())
        found = {
            each.id: each.status(session.run(provider_facts(session.transport, each), "read providers"), settings)
            for each in PROVIDERS.values()
        }
    if form != "text":
        from mooring.cli.render.data import encode

        told = [
            {
                "id": each.id,
                "name": each.name,
                "description": each.description,
                "defaultNamespace": each.default_namespace,
                "default": each is usual,
                "crds": msgspec.to_builtins(each.crds),
                "status": msgspec.to_builtins(found[each.id]),
                "installationSteps": msgspec.to_builtins(each.installation_steps(settings)),
                "helmRepos": msgspec.to_builtins(each.helm_repositories(settings)),
                "helmCharts": msgspec.to_builtins(each.helm_charts(settings)),
            }
            for each in PROVIDERS.values()
        ]
        click.echo(encode({"providers": told}, form), nl=False)
        return 0
    from mooring.cli.render.page import TextColumn, TextPage
    from mooring.cli.render.screen import show_page

    page = TextPage()
    columns = [TextColumn(head) for head in ("PROVIDER", "READY", "DEFAULT", "VERSION", "STATE")]
    page.table(
        columns,
        (
            (
                each.id,
                "yes" if found[each.id].installed else "no",
                "yes" if each is usual else "",
                found[each.id].version,
                found[each.id].message,
            )
            for each in PROVIDERS.values()
        ),
        indent=0,
    )
    for each in PROVIDERS.values():
        steps = each.installation_steps(settings)
        if steps and not found[each.id].installed:
            page.title(f"{each.name} by hand")
            for step in steps:
                page.line(f"# {step.description}", "dim", 2)
                page.line(step.command, "command", 2, wrap=False)
    show_page(page, colour=not no_color)
    return 0
