"""Rules and policies in CEL as people meet them: applied with kubectl, and heeded by the next command."""

from __future__ import annotations

from tests.external.kubectl import Kubectl, manifest


def definition(group: str, rule: str) -> dict[str, object]:
    spec = {
        "type": "object",
        "properties": {"least": {"type": "integer"}, "most": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": rule, "messageExpression": "'least is %d'.format([self.least])"}],
    }
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"ranges.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "ranges", "kind": "Range"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def test_a_rule_of_a_custom_kind_is_checked_and_then_holds(newest: Kubectl) -> None:
    group = f"{newest.namespace}.example.com"
    wrong = newest.fails("apply", "-f", "-", stdin=manifest(definition(group, "self.least <= self.mots")))
    assert "undefined field 'mots'" in wrong
    newest.apply(definition(group, "self.least <= self.most"))
    newest("wait", "--for=condition=Established", f"crd/ranges.{group}")

    made = {"apiVersion": f"{group}/v1", "kind": "Range", "metadata": {"name": "r"}, "spec": {"least": 1, "most": 2}}
    newest.apply(made)
    refused = newest.fails("patch", "range", "r", "--type=merge", "-p", '{"spec": {"least": 3}}')
    assert refused == 'The Range "r" is invalid: spec: Invalid value: least is 3\n'


def test_a_policy_holds_for_what_it_is_bound_to(newest: Kubectl) -> None:
    name = newest.namespace
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["deployments"],
                    }
                ],
            },
            "validations": [{"expression": "object.spec.replicas <= 5", "message": "five replicas are enough"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    newest.apply(policy, binding)
    refused = newest.fails("create", "deployment", "web", "--image=nginx", "--replicas=6")
    assert (
        f"ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: five replicas are enough" in refused
    )
    newest("create", "deployment", "web", "--image=nginx", "--replicas=2")
    newest("delete", "validatingadmissionpolicybinding", name)
    newest("create", "deployment", "large", "--image=nginx", "--replicas=6")
