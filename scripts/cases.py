"""Writes docs/cases/, forty GPU situations with what `mooring explain` says of them; --check only compares.

A case is a folder of examples/cases: `case.yaml` has its title and what to make of the answer, `workload.yaml` and
`cluster.yaml` are what the command is given. The answer is that of the command, so a page cannot say anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Final, NamedTuple

import yaml
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.cli.render.page import TextColumn, TextPage
from mooring.cli.render.plain import to_text
from mooring.kube.objects import Object
from scripts.made import ROOT, write_or_check

CASES: Final = ROOT / "examples" / "cases"
PAGES: Final = ROOT / "docs" / "cases"
COMMAND: Final = "python -m scripts.cases"
QUESTION: Final = ("-f", "workload.yaml", "--snapshot", "cluster.yaml")
TITLES: Final = {
    "labels": "Labels and selectors",
    "nodes": "Taints, and nodes that take no pods",
    "amounts": "GPUs and other amounts",
    "other-pods": "Other pods",
    "groups": "Groups, models, notebooks and jobs",
    "volumes": "Volumes and devices",
    "pools": "Pools",
}
_HEAD: Final = f"""# Forty worked cases

Why workloads do not land on GPU fleets: the manifest, the fleet, what `mooring explain` answers, and which proposal to
take. The answers are those of the command, written by `{COMMAND}`. A test holds the pages to them, and the answers to
what an expert would propose. Each case is a folder of [examples/cases](../../examples/cases), to be tried:

```text
cd examples/cases/01-misspelt-selector-and-taint
mooring explain {" ".join(QUESTION)}
```

[explain.md](../explain.md) says what an answer holds, [exit codes](../explain.md#exit-codes) and [what is
exact](../explain.md#what-is-exact) included.
"""


class Case(NamedTuple):
    """A folder of examples/cases."""

    folder: Path
    title: str
    page: str
    why: str

    @property
    def number(self) -> int:
        return int(self.folder.name.partition("-")[0])

    def explain(self, *options: str) -> Result:
        """`mooring explain` in this process, asked in the folder, so that commands name the file as it stands there."""
        with chdir(self.folder):
            return CliRunner().invoke(cli, ["explain", *QUESTION, *options])

    def objects(self) -> list[Object]:
        return list(yaml.safe_load_all((self.folder / "cluster.yaml").read_text(encoding="utf-8")))


def cases() -> list[Case]:
    return [_read(folder) for folder in sorted(CASES.iterdir())]


def _read(folder: Path) -> Case:
    said = yaml.safe_load((folder / "case.yaml").read_text(encoding="utf-8"))
    return Case(folder, said["title"], said["page"], said["why"].strip())


def texts(found: Sequence[Case]) -> dict[Path, str]:
    """The pages, and the index of them."""
    answers = {each: each.explain() for each in found}
    pages = {PAGES / "README.md": _index(answers)}
    for name, title in TITLES.items():
        parts = [_case(each, answer) for each, answer in answers.items() if each.page == name]
        pages[PAGES / f"{name}.md"] = "\n".join([f"# {title}\n", *parts, "[All cases](README.md)\n"])
    return pages


def _index(answers: Mapping[Case, Result]) -> str:
    lines = [_HEAD]
    for name, title in TITLES.items():
        lines += [f"## [{title}]({name}.md)", "", "| | case | exit code |", "|---:|---|---|"]
        for each, answer in answers.items():
            if each.page == name:
                link = f"[{each.title}]({name}.md#{_anchor(_heading(each))})"
                lines.append(f"| {each.number} | {link} | {answer.exit_code} |")
        lines.append("")
    return "\n".join(lines)


def _heading(case: Case) -> str:
    return f"{case.number}. {case.title}"


def _anchor(heading: str) -> str:
    """The name that a heading has in links, as GitHub makes it."""
    return "".join("-" if c == " " else c for c in heading.lower() if c.isalnum() or c in " -_")


def _case(case: Case, answer: Result) -> str:
    manifest = (case.folder / "workload.yaml").read_text(encoding="utf-8")
    parts = [
        f"## {_heading(case)}\n",
        f"{case.why}\n",
        f"```yaml\n{manifest}```\n",
        f"The fleet ([files](../../examples/cases/{case.folder.name})):\n",
        f"```text\n{_fleet(case.objects())}```\n",
    ]
    if others := _others(case):
        parts.append(f"```yaml\n{others}```\n")
    parts.append(f"```text\n$ mooring explain {' '.join(QUESTION)}\n{answer.stdout}```\n")
    parts.append(f"Exit code {answer.exit_code}.\n")
    return "\n".join(parts)


def _others(case: Case) -> str:
    """The objects of the cluster that are neither nodes nor pods, as they are written."""
    documents = (case.folder / "cluster.yaml").read_text(encoding="utf-8").split("---\n")
    return "---\n".join(each for each in documents if yaml.safe_load(each)["kind"] not in ("Node", "Pod"))


def _fleet(objects: Sequence[Object]) -> str:
    """Nodes and pods as tables, without columns that are empty."""
    page = TextPage()
    _add_table(page, ("NODE", "STATUS", "ALLOCATABLE", "LABELS", "TAINTS"), [_node(o) for o in _of(objects, "Node")])
    pods = [_pod(each) for each in _of(objects, "Pod")]
    if pods:
        page.line()
        _add_table(page, ("POD", "NODE", "REQUESTS", "PRIORITY", "OWNER"), pods)
    return to_text(page)


def _of(objects: Sequence[Object], kind: str) -> Iterator[Object]:
    return (each for each in objects if each["kind"] == kind)


def _add_table(page: TextPage, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    used = [index for index in range(len(heads)) if any(row[index] for row in rows)]
    page.table([TextColumn(heads[index]) for index in used], [[row[index] for index in used] for row in rows], 0)


def _node(node: Object) -> tuple[str, ...]:
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node["status"]
    ready = all(each["status"] == "True" for each in status.get("conditions", ()) if each["type"] == "Ready")
    state = ("Ready" if ready else "NotReady") + (",SchedulingDisabled" if spec.get("unschedulable") else "")
    labels = {key: value for key, value in metadata["labels"].items() if key != "kubernetes.io/hostname"}
    taints = [
        f"{each['key']}{'=' if 'value' in each else ''}{each.get('value', '')}:{each['effect']}"
        for each in spec.get("taints", ())
    ]
    pairs = (f"{key}={value}" for key, value in labels.items())
    return metadata["name"], state, _amounts(status["allocatable"]), ",".join(pairs), ", ".join(taints)


def _pod(pod: Object) -> tuple[str, ...]:
    metadata, spec = pod["metadata"], pod["spec"]
    requests = (spec["containers"][0].get("resources") or {}).get("requests") or {}
    owner = next((f"{each['kind']}/{each['name']}" for each in metadata.get("ownerReferences", ())), "")
    return metadata["name"], spec["nodeName"], _amounts(requests), str(spec.get("priority", "")), owner


def _amounts(amounts: Object) -> str:
    return ", ".join(f"{amount} {name}" for name, amount in amounts.items() if name != "pods")


def main() -> int:
    return write_or_check(texts(cases()), COMMAND)


if __name__ == "__main__":
    sys.exit(main())
