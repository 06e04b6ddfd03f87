"""Writes access rules from what controllers and webhooks declare; with --check only says what differs.

`kubectl apply -f config/rbac` makes a role for everything that `mooring run` can run, and gives its service account the
roles of what runs unless something else is chosen. `users.yaml` is for those who are no controllers, such as agents.
`mooring up` reads the rules of its controllers from JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Final

import yaml

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.supervisor.declared_rules import NAMESPACE, bindings_of, roles_of, rules_by_name
from mooring.supervisor.own_rights import RULES
from scripts.made import ROOT, write_or_check

FOLDER: Final = ROOT / "config" / "rbac"


def texts() -> dict[str, str]:
    """What every file must hold, by its name. kubectl reads them in the order of their names."""
    return {
        "account.yaml": _text([NAMESPACE, *bindings_of(CATALOG)]),
        "roles.yaml": _text(roles_of(CATALOG)),
        "users.yaml": _text(CATALOG.rules()),
    }


def _text(objects: Iterable[Object]) -> str:
    made = "# Made by python -m scripts.rbac from what controllers and webhooks declare.\n"
    for each in objects:
        made += "---\n" + yaml.safe_dump(each, sort_keys=False, width=118)
    return made


def rules_text() -> str:
    """The rules of every controller, one in a line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(rules)}" for name, rules in rules_by_name(CATALOG).items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    wanted = {FOLDER / name: text for name, text in texts().items()}
    return write_or_check({**wanted, RULES: rules_text()}, "python -m scripts.rbac")


if __name__ == "__main__":
    sys.exit(main())
