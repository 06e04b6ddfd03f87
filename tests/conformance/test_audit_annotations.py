"""What admission notes of a request in the audit log of both servers: Pod Security, and policies."""

from __future__ import annotations

import json
import time

from mooring.kube.objects import Object
from mooring.testing.homes import Home
from mooring.testing.http import Answer, Api
from tests.conformance.test_audit import PATIENCE_SECONDS, config_map, events, normal


def noted(api_server: Home, answer: Answer) -> Object:
    """What admission notes of a request."""
    [event] = events(api_server, lambda event: event["auditID"] == answer.headers["audit-id"], 1)
    return {key: text for key, text in normal(event)["annotations"].items() if "authorization" not in key}


def test_pod_security_notes_what_it_enforces_and_what_it_would_not_allow(api_server: Home, api: Api) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/audit": "restricted"}
    for name, given in (("watched", labels), ("unwatched", {})):
        api.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": given}})
        api.post(f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})
    spec = {"containers": [{"name": "main", "image": "any"}]}
    pod = {"metadata": {"name": "p"}, "spec": spec}
    enforced = "pod-security.kubernetes.io/enforce-policy"
    violations = {
        "pod-security.kubernetes.io/audit-violations": 'would violate PodSecurity "restricted:latest": '
        'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), '
        'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), '
        'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), '
        'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
        '"Localhost")'
    }
    made = api.post("/api/v1/namespaces/watched/pods", pod)
    assert made.code == 201, made.body
    assert noted(api_server, made) == {enforced: "baseline:latest", **violations}
    refused_one = {**pod, "spec": {**spec, "hostNetwork": True}}
    found = noted(api_server, api.post("/api/v1/namespaces/watched/pods", refused_one))
    assert found[enforced] == "baseline:latest"
    assert noted(api_server, api.post("/api/v1/namespaces/unwatched/pods", pod)) == {enforced: "privileged:latest"}

    match = {"matchLabels": {"a": "b"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    deployment = {"metadata": {"name": "d"}, "spec": {"selector": match, "template": template}}
    made = api.post("/apis/apps/v1/namespaces/watched/deployments", deployment)
    assert noted(api_server, made) == violations


def test_policies_note_failures_and_annotations(api_server: Home, api: Api) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    matched = {"resourceRules": [rule], "objectSelector": {"matchLabels": {"noted": "yes"}}}
    spec = {
        "matchConstraints": matched,
        "validations": [{"expression": "true"}, {"expression": "has(object.data)", "message": "no data"}],
        "auditAnnotations": [
            {"key": "name", "valueExpression": "'named ' + object.metadata.name"},
            {"key": "nothing", "valueExpression": "null"},
        ],
    }
    api.post(f"{group}/validatingadmissionpolicies", {"metadata": {"name": "noting.example.com"}, "spec": spec})
    for name in ("first", "second"):
        bound = {"policyName": "noting.example.com", "validationActions": ["Audit", "Warn"]}
        api.post(f"{group}/validatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": bound})
    found: Object = {}
    end = time.monotonic() + PATIENCE_SECONDS
    while len(found) < 2 and time.monotonic() < end:
        # A real server has a new policy in force after a moment.
        made = api.post(
            "/api/v1/namespaces/default/configmaps", config_map("noted", labels={"noted": "yes"}), dryRun="All"
        )
        found = noted(api_server, made)
    for kind, name in (("policybindings", "first"), ("policybindings", "second"), ("policies", "noting.example.com")):
        api.delete(f"{group}/validatingadmission{kind}/{name}")
    assert found.pop("noting.example.com/name") == "named noted"
    [failure] = json.loads(found.pop("validation.policy.admission.k8s.io/validation_failure"))
    assert failure.pop("binding") in ("first", "second")
    assert failure == {
        "message": "no data",
        "policy": "noting.example.com",
        "expressionIndex": 1,
        "validationActions": ["Audit", "Warn"],
    }
    assert found == {}
