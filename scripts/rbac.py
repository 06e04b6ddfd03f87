"""Writes access rules to config/rbac/ from what controllers and webhooks declare; with --check only says what differs.

`kubectl apply -f config/rbac` makes a role for everything that `mooring run` can run, and gives its service account the
roles of what runs unless something else is chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import yaml

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.supervisor.external.rbac import NAMESPACE, bindings_of, roles_of

FOLDER: Final = Path(__file__).parent.parent / "config" / "rbac"


def texts() -> dict[str, str]:
    """What every file must hold, by its name. kubectl reads them in the order of their names."""
    return {"account.yaml": _text([NAMESPACE, *bindings_of(CATALOG)]), "roles.yaml": _text(roles_of(CATALOG))}


def _text(objects: Iterable[Object]) -> str:
    made = "# Made by python -m scripts.rbac from what controllers and webhooks declare.\n"
    for each in objects:
        made += "---\n" + yaml.safe_dump(each, sort_keys=False, width=118)
    return made


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = []
    for name, text in texts().items():
        path = FOLDER / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"config/rbac/{name} {'is not what is declared; run python -m scripts.rbac' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
