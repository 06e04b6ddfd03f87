"""Writes answers/*.yaml anew from a real control plane, after cases were added or changed.

python -m tests.conformance.record            every file
python -m tests.conformance.record pods       only these
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import yaml

from mooring.testing.homes import REAL, api_only
from tests.conformance.cases import HERE, load_file
from tests.conformance.playing import play
from tests.conformance.users import USERS, Clients


def record(clients: Clients, stem: str) -> None:
    answers = {case.name: play(clients, case) for case in load_file(HERE / "cases" / f"{stem}.yaml")}
    text = yaml.safe_dump(answers, sort_keys=True, width=110, allow_unicode=True)
    path = HERE / "answers" / f"{stem}.yaml"
    path.write_text(f"# What kube-apiserver answers; recorded by record.py.\n{text}", encoding="utf-8")


def main() -> None:
    stems = sys.argv[1:] or sorted(path.stem for path in (HERE / "cases").glob("*.yaml"))
    with tempfile.TemporaryDirectory() as folder, api_only(REAL, Path(folder), USERS) as home, Clients(home) as clients:
        for stem in stems:
            record(clients, stem)


if __name__ == "__main__":
    main()
