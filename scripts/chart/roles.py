"""Access rules as templates: a role for each part that runs, bound to the service account of the release."""

from __future__ import annotations

from typing import Final

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.supervisor.declared_rules import CERTIFICATES, RUNTIME, WEBHOOKS, namespaced_rules, roles_of
from scripts.chart.text import LABELS, dumped, header

_GROUP: Final = "rbac.authorization.k8s.io"
_SUBJECT: Final = """\
subjects:
- kind: ServiceAccount
  name: {{ include "mooring.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
"""
_WITH_WEBHOOKS: Final = ".Values.webhooks.enabled"


def roles_text(command: str) -> str:
    text = header(command) + '{{- $running := include "mooring.running" . | fromJsonArray }}\n'
    for role in roles_of(CATALOG):
        name = role["metadata"]["name"].removeprefix("mooring:")
        condition = {RUNTIME: "true", WEBHOOKS: _WITH_WEBHOOKS}.get(name, f'has "{name}" $running')
        text += f"{{{{- if {condition} }}}}\n{_bound('Cluster', name, _rules(name, role['rules']))}{{{{- end }}}}\n"
    for name, rules in namespaced_rules().items():
        condition = _WITH_WEBHOOKS if name == CERTIFICATES else "true"
        text += f"{{{{- if {condition} }}}}\n{_bound('', name, rules)}{{{{- end }}}}\n"
    return text


def _rules(name: str, rules: list[Object]) -> list[Object]:
    """The release itself makes configurations of webhooks, and takes them away: a process that still runs then must
    not put them back, because nothing would answer for them.
    """
    if name != WEBHOOKS:
        return rules
    return [{**rule, "verbs": [verb for verb in rule["verbs"] if verb != "create"]} for rule in rules]


def users_text(command: str) -> str:
    """Rules for those who are no controllers, by the feature that they use."""
    text = header(command)
    for feature in CATALOG.features:
        if not (rules := feature.rules()):
            continue
        names = ",".join(name for name in feature.names if name not in feature.add_ons)
        text += f'{{{{- if include "mooring.serves" (list . "{names}") }}}}\n'
        for rule in rules:
            metadata = rule["metadata"]
            rest = {key: value for key, value in rule.items() if key not in ("apiVersion", "kind", "metadata")}
            text += _object(rule["kind"], metadata["name"], metadata.get("namespace")) + dumped(rest)
        text += "{{- end }}\n"
    return text


def _bound(scope: str, name: str, rules: list[Object]) -> str:
    namespace = None if scope else "{{ .Release.Namespace }}"
    role = {"apiGroup": _GROUP, "kind": f"{scope}Role", "name": f"mooring:{name}"}
    return (
        _object(f"{scope}Role", f"mooring:{name}", namespace)
        + dumped({"rules": rules})
        + _object(f"{scope}RoleBinding", f"mooring:{name}", namespace)
        + dumped({"roleRef": role})
        + _SUBJECT
    )


def _object(kind: str, name: str, namespace: str | None) -> str:
    inside = f"  namespace: {namespace}\n" if namespace else ""
    head = f"---\napiVersion: {_GROUP}/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{inside}  labels:\n"
    return head + LABELS
