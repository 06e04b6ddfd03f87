"""The commands `mooring notebook run` and `mooring notebook report`."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.command_group import CommandGroup
from mooring.cli.durations import duration
from mooring.cli.errors import ERROR, Command, complain, exit_code
from mooring.kube.errors import InputError

_EXIT_CODES: Final = {"Passed": 0, "Failed": 2, "Error": ERROR}
_NORMALIZERS: Final = ("timestamps", "addresses", "paths", "uuids", "ansi", "whitespace")
_LEVELS: Final = ("learning", "development", "staging", "production")


@click.group(cls=CommandGroup)
def command() -> None:
    """Run a notebook and compare it with a golden one, or fetch the report of a job."""


@command.command("run", cls=Command)
@click.argument("notebook", type=click.Path(path_type=Path), metavar="FILE.ipynb")
@click.option("--golden", type=click.Path(path_type=Path), metavar="FILE", help="The notebook whose outputs are right.")
@click.option("--param", "params", multiple=True, metavar="K=V", help="A parameter, in JSON or as text; repeatable.")
@click.option("--timeout", callback=duration, default="30m", show_default=True, metavar="TIME", help="For all cells.")
@click.option("--cell-timeout", callback=duration, metavar="TIME", help="For each cell.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with cells, outputs and differences there.",
)
@click.option(
    "--output",
    "executed",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the executed notebook there; it can be the golden one of the next run.",
)
@click.option("--strategy", type=click.Choice(("exact", "normalized")), help="How to compare; normalized by default.")
@click.option("--tolerance", metavar="NUMBER", help="How far numbers may differ; 0.0001 by default.")
@click.option("--relative-tolerance", metavar="NUMBER", help="The same as a share of the larger number; 0 by default.")
@click.option(
    "--normalizer", "normalizers", multiple=True, type=click.Choice(_NORMALIZERS), help="What may differ; repeatable."
)
@click.option("--ignore-output", "ignored", multiple=True, metavar="TYPE", help="An output or mime type; repeatable.")
@click.option("--level", type=click.Choice(_LEVELS), help="How strict to be; development by default.")
@click.option("-o", "form", type=click.Choice(("text", "json")), default="text", help="How to answer.")
@exit_code
def run(
    notebook: Path,
    golden: Path | None,
    params: tuple[str, ...],
    timeout: timedelta,
    cell_timeout: timedelta | None,
    report: Path | None,
    executed: Path | None,
    strategy: str | None,
    tolerance: str | None,
    relative_tolerance: str | None,
    normalizers: tuple[str, ...],
    ignored: tuple[str, ...],
    level: str | None,
    form: str,
) -> int:
    """Execute FILE.ipynb in a real kernel on this machine, and say what became of each cell.

    \b
      mooring notebook run train.ipynb --param epochs=2 --output golden.ipynb
      mooring notebook run train.ipynb --param epochs=2 --golden golden.ipynb --report report.html

    No cluster is needed; a NotebookValidationJob does the same in a pod. Exit codes: 0 passed, 1 error, 2 validation
    failed.
    """
    from mooring.cli.notebook.runner_process import run_notebook

    comparison = {
        "strategy": strategy,
        "floatingPointTolerance": tolerance,
        "relativeTolerance": relative_tolerance,
        "normalizers": list(normalizers),
        "ignoreOutputTypes": list(ignored),
    }
    settings: dict[str, Any] = {
        "notebook": str(notebook.absolute()),
        "parameters": dict(map(_parameter, params)),
        "timeoutSeconds": timeout.total_seconds(),
        "comparison": {name: value for name, value in comparison.items() if value},
        "validation": {"level": level} if level else {},
    }
    if golden is not None:
        settings["golden"] = str(golden.absolute())
    if cell_timeout is not None:
        settings["cellTimeoutSeconds"] = cell_timeout.total_seconds()
    for path in (report, executed):
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(f"{path.parent} is not a folder; name a file in one")
    result = run_notebook(settings, report=report, executed=executed, progress=form == "text" and sys.stderr.isatty())
    if form == "json":
        click.echo(json.dumps(result, indent=2))
    elif result["outcome"] == "Error":
        complain(result["message"])
    else:
        _show(notebook, result, [path for path in (executed, report) if path is not None])
    return _EXIT_CODES[result["outcome"]]


@command.command("report", cls=Command)
@click.argument("job")
@click.option("-n", "--namespace", default="", metavar="NAMESPACE", help="Where the job is.")
@click.option(
    "-o",
    "--output",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write the report; JOB.html by default.",
)
@click.option(
    "--executed",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the executed notebook there too.",
)
@cluster_options
@exit_code
def report(
    job: str, namespace: str, page: Path | None, executed: Path | None, kubeconfig: Path | None, context: str | None
) -> int:
    """Fetch the report of the NotebookValidationJob JOB from the log of its pod.

    \b
      mooring notebook report whisper-eval -n training -o whisper.html --executed whisper.ipynb
    """
    from mooring.cli.notebook.job_artifact import fetch_artifact
    from mooring.cli.whole_file import write_whole

    artifact = fetch_artifact(job, namespace, kubeconfig, context)
    page = page or Path(f"{job}.html")
    write_whole(page, artifact["report"])
    click.echo(f"{page} written")
    if executed is not None:
        write_whole(executed, json.dumps(artifact["executed"], indent=1, ensure_ascii=False) + "\n")
        click.echo(f"{executed} written")
    return 0


def _parameter(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise InputError(f'--param {text} is no parameter; write it as name=value, such as epochs=2 or model="small"')
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _show(notebook: Path, result: dict[str, Any], written: list[Path]) -> None:
    from mooring.cli.notebook.page import result_page
    from mooring.cli.render.screen import show_page

    page = result_page(notebook.name, result)
    for path in written:
        page.line(f"{path} written", "dim")
    show_page(page, colour=True)
