"""Pods: metadata, annotations and the fields of the spec that stand alone.

The lines are those of a real API server.
"""

from typing import Any

import pytest

from mooring.api.core.validation import answer_validate

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
KEY = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
CONTAINER = {"name": "c", "image": "web:1"}

CASES = [
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "restartPolicy": "Maybe", "dnsPolicy": "Maybe"},
        },
        [
            'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
            'spec.dnsPolicy: Unsupported value: "Maybe": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
        ],
        id="unknown restart and DNS policies",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "dnsPolicy": "None"},
        },
        ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
        id="no DNS policy without servers",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "dnsPolicy": "None", "dnsConfig": {}},
        },
        [
            "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"
        ],
        id="no DNS policy with an empty configuration",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [CONTAINER],
                "dnsConfig": {
                    "nameservers": ["1.2.3.4", "x", "::1", "010.1.1.1"],
                    "searches": ["a.b.", "_tcp.x", ".", "A"],
                    "options": [{"name": "ndots"}, {}],
                },
            },
        },
        [
            'spec.dnsConfig.nameservers: Invalid value: ["1.2.3.4","x","::1","010.1.1.1"]: must not have more than 3 nameservers',
            'spec.dnsConfig.nameservers[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
            "spec.dnsConfig.searches[3]: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
            "spec.dnsConfig.options[1]: Required value: must not be empty",
        ],
        id="a DNS configuration",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "dnsConfig": {"searches": ["x" * 100] * 33}},
        },
        [
            'spec.dnsConfig.searches: Invalid value: ["'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '"]: must not have more than 32 search paths',
            'spec.dnsConfig.searches: Invalid value: ["'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '","'
            + "x" * 100
            + '"]: must not have more than 2048 characters (including spaces) in the search list',
        ],
        id="too many search domains",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "hostAliases": [{"ip": "fe80::1%eth0", "hostnames": ["a", "A"]}]},
        },
        [
            'spec.hostAliases[0].ip: Invalid value: "fe80::1%eth0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
            f'spec.hostAliases[0].hostnames[1]: Invalid value: "A": {SUBDOMAIN}',
        ],
        id="host aliases",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "hostname": "a.b", "subdomain": "A"},
        },
        ['spec.hostname: Invalid value: "a.b": must not contain dots', f'spec.subdomain: Invalid value: "A": {LABEL}'],
        id="host names",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [CONTAINER],
                "hostnameOverride": "X" * 65,
                "setHostnameAsFQDN": True,
                "hostNetwork": True,
            },
        },
        [
            "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
            "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
            "spec.hostnameOverride: Too long: may not be more than 64 bytes",
            'spec.hostnameOverride: Invalid value: "' + "X" * 65 + f'": {SUBDOMAIN}',
        ],
        id="a host name that overrides",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "activeDeadlineSeconds": 0},
        },
        ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
        id="a deadline",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "activeDeadlineSeconds": 2147483648},
        },
        ["spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive"],
        id="a deadline too far",
    ),
    pytest.param(
        {"metadata": {}, "spec": {"containers": [CONTAINER]}},
        ["metadata.name: Required value: name or generateName is required", "metadata.namespace: Required value"],
        id="a pod needs a name and a namespace",
    ),
    pytest.param(
        {"metadata": {"name": "P", "namespace": "N.s", "generateName": "G-"}, "spec": {"containers": [CONTAINER]}},
        [f'metadata.name: Invalid value: "P": {SUBDOMAIN}', f'metadata.namespace: Invalid value: "N.s": {LABEL}'],
        id="names are DNS names",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "n", "labels": {"-": "-"}, "annotations": {"a b": "x"}},
            "spec": {"containers": [CONTAINER]},
        },
        [
            f'metadata.labels: Invalid value: "-": name part {KEY}',
            f'metadata.labels: Invalid value: "-": {VALUE}',
            f'metadata.annotations: Invalid value: "a b": name part {KEY}',
        ],
        id="labels and annotations have qualified keys",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "n", "annotations": {"Example.com/X": "x"}},
            "spec": {"containers": [CONTAINER]},
        },
        [],
        id="annotations may be in capitals",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "n", "annotations": {"a": "x" * 262144}},
            "spec": {"containers": [CONTAINER]},
        },
        ["metadata.annotations: Too long: may not be more than 262144 bytes"],
        id="annotations are short",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "ownerReferences": [
                    {},
                    {"apiVersion": "a/b/c", "kind": "Event", "name": "x", "uid": "u"},
                    {"apiVersion": "v1", "kind": "Event", "name": "x", "uid": "u"},
                ],
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
            'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
            'metadata.ownerReferences.name: Invalid value: "": must not be empty',
            'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
            'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
            'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"x","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
        ],
        id="owners are complete",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "A", "name": "x", "uid": "u", "controller": True},
                    {"apiVersion": "v1", "kind": "B", "name": "y", "uid": "u", "controller": True},
                ],
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"A","name":"x","uid":"u","controller":true},{"apiVersion":"v1","kind":"B","name":"y","uid":"u","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for A/x and B/y'
        ],
        id="one owner controls",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "n", "finalizers": ["orphan", "foregroundDeletion", "own", "a b/c"]},
            "spec": {"containers": [CONTAINER]},
        },
        [
            f'metadata.finalizers: Invalid value: "a b/c": prefix part {SUBDOMAIN}',
            'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion","own","a b/c"]: finalizer orphan and foregroundDeletion cannot be both set',
            'metadata.finalizers[2]: Invalid value: "own": name is neither a standard finalizer name nor is it fully qualified',
        ],
        id="finalizers",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "managedFields": [
                    {"operation": "Own", "fieldsType": "V2", "manager": "é\x07" + "x" * 130, "subresource": "s" * 257}
                ],
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.managedFields[0].operation: Invalid value: "Own": must be `Apply` or `Update`',
            'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
            "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
            'metadata.managedFields[0].manager: Invalid value: "é\\a'
            + "x" * 130
            + '": invalid character U+0007 (at position 2)',
            "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
        ],
        id="managed fields",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "n", "annotations": {"kubernetes.io/config.mirror": "x"}},
            "spec": {"containers": [CONTAINER], "resourceClaims": [{"name": "a", "resourceClaimName": "b"}]},
        },
        [
            'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
            "[]: Forbidden: static pods do not support resource claims",
        ],
        id="a mirror pod has a node and no claims",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "annotations": {"controller.kubernetes.io/pod-deletion-cost": "+5"},
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+5": must be a 32bit integer'
        ],
        id="the cost of deletion is an integer",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "annotations": {"controller.kubernetes.io/pod-deletion-cost": "2147483648"},
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "2147483648": must be a 32bit integer'
        ],
        id="the cost of deletion has 32 bits",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "annotations": {"scheduler.alpha.kubernetes.io/tolerations": '[{"key":"a","operator":"Near"}]'},
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists"'
        ],
        id="tolerations of old",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "annotations": {"seccomp.security.alpha.kubernetes.io/pod": "own"},
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "own": must be a valid seccomp profile'
        ],
        id="seccomp of old",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "annotations": {"container.seccomp.security.alpha.kubernetes.io/c": "localhost/../x"},
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: Invalid value: \"../x\": must not contain '..'"
        ],
        id="seccomp of old for a container",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "n",
                "annotations": {"container.apparmor.security.beta.kubernetes.io/x": "own"},
            },
            "spec": {"containers": [CONTAINER]},
        },
        [
            'metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "x": container not found',
            'metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "own": invalid AppArmor profile name: "own"',
        ],
        id="AppArmor of old",
    ),
]


@pytest.mark.parametrize(("pod", "lines"), CASES)
def test_says_what_the_api_server_says(pod: dict[str, Any], lines: list[str]) -> None:
    assert answer_validate({"id": 0, "pod": pod}).get("invalid", []) == lines
