"""Rows of who may do what and who is asked first: bindings of roles, signing requests, admission."""

from datetime import datetime, timedelta
from typing import Any, Final

from mooring.apiserver.tables.durations import human_duration
from mooring.apiserver.tables.printing import NONE, Cells, age, items, name, part, printer
from mooring.kube.objects import Object

__all__: list[str] = []

_BINDING: Final = "Name, Role, Age, Users+, Groups+, ServiceAccounts+"


@printer("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", _BINDING)
@printer("rbac.authorization.k8s.io/v1", "RoleBinding", _BINDING)
def _role_binding(obj: Object, now: datetime) -> Cells:
    role = part(obj, "roleRef")
    subjects = items(obj, "subjects")
    accounts = [each for each in subjects if each["kind"] == "ServiceAccount"]
    return [
        name(obj),
        f"{role.get('kind') or ''}/{role.get('name') or ''}",
        age(obj, now),
        ", ".join(each["name"] for each in subjects if each["kind"] == "User"),
        ", ".join(each["name"] for each in subjects if each["kind"] == "Group"),
        ", ".join(f"{each.get('namespace') or ''}/{each['name']}" for each in accounts),
    ]


@printer(
    "certificates.k8s.io/v1",
    "CertificateSigningRequest",
    "Name, Age, SignerName, Requestor, RequestedDuration, Condition",
)
def _signing_request(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    seconds = spec.get("expirationSeconds")
    return [
        name(obj),
        age(obj, now),
        spec.get("signerName") or NONE,
        spec.get("username") or "",
        NONE if seconds is None else human_duration(timedelta(seconds=seconds)),
        _signing_state(part(obj, "status")),
    ]


def _signing_state(status: Object) -> str:
    kinds = {each.get("type") for each in items(status, "conditions")}
    words = ["Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"]
    if "Failed" in kinds:
        words.append("Failed")
    if status.get("certificate"):
        words.append("Issued")
    return ",".join(words)


@printer("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "Name, Webhooks:integer, Age")
@printer("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "Name, Webhooks:integer, Age")
def _webhooks(obj: Object, now: datetime) -> Cells:
    return [name(obj), len(items(obj, "webhooks")), age(obj, now)]


@printer(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "Name, Validations:integer, ParamKind, Age",
)
def _admission_policy(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    kind = spec.get("paramKind")
    shown = "<unset>" if kind is None else f"{kind.get('apiVersion') or ''}/{kind.get('kind') or ''}"
    return [name(obj), len(items(spec, "validations")), shown, age(obj, now)]


@printer("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "Name, PolicyName, ParamRef, Age")
def _admission_binding(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    return [name(obj), spec.get("policyName") or "", _parameters(spec.get("paramRef")), age(obj, now)]


def _parameters(reference: Object | None) -> str:
    if reference is None:
        return "<unset>"
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    return "<unset>" if selector is None else _spelt_out(selector)


def _spelt_out(selector: Object) -> str:
    """A label selector as the real server prints it here and nowhere else."""
    labels = part(selector, "matchLabels")
    pairs = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    rules = "".join(f"{_requirement(each)}," for each in items(selector, "matchExpressions"))
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{rules}}},}}"
    )


def _requirement(rule: Any) -> str:
    values = " ".join(items(rule, "values"))
    return f"LabelSelectorRequirement{{Key:{rule['key']},Operator:{rule['operator']},Values:[{values}],}}"
