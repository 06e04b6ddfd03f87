"""Where a pod may go: what is refused about affinity, spreading, tolerations and gates.

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
        {"containers": [CONTAINER], "nodeSelector": {"bad key": "bad value"}},
        [
            f'spec.nodeSelector: Invalid value: "bad key": name part {KEY}',
            f'spec.nodeSelector: Invalid value: "bad value": {VALUE}',
        ],
        id="a bad node selector",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
        },
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term"
        ],
        id="node affinity needs a term",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}
            },
        },
        [],
        id="an empty term is allowed",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "a", "operator": "In"},
                                    {"key": "a", "operator": "Exists", "values": ["x"]},
                                    {"key": "a", "operator": "Gt"},
                                    {"key": "a", "operator": "Near", "values": ["x"]},
                                    {"key": "", "operator": "In", "values": ["-"]},
                                ]
                            }
                        ]
                    }
                }
            },
        },
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
            'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].operator: Invalid value: "Near": not a valid selector operator',
            'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].key: Invalid value: "": name part must be non-empty',
            f'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].key: Invalid value: "": name part {KEY}',
            f'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].values[0]: Invalid value: "-": {VALUE}',
        ],
        id="operators of node affinity",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {"key": "metadata.uid", "operator": "In", "values": ["x"]},
                                    {"key": "metadata.name", "operator": "Exists"},
                                    {"key": "metadata.name", "operator": "In", "values": ["A", "b"]},
                                ]
                            }
                        ]
                    }
                }
            },
        },
        [
            'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key',
            'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[1].operator: Invalid value: "Exists": not a valid selector operator',
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[2].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            f'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[2].values[0]: Invalid value: "A": {SUBDOMAIN}',
        ],
        id="fields of node affinity",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 0,
                            "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]},
                        },
                        {"weight": 101, "preference": {}},
                    ]
                }
            },
        },
        [
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100",
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].weight: Invalid value: 101: must be in the range 1-100",
        ],
        id="preferred terms have weights, and their values are not checked",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {}}]}},
        },
        [
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
            'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
            f'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part {KEY}',
        ],
        id="pod affinity needs a topology",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 500,
                            "podAffinityTerm": {
                                "topologyKey": "zone",
                                "namespaces": ["A"],
                                "namespaceSelector": {"matchLabels": {"-": "x"}},
                                "labelSelector": {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "In"},
                                        {"key": "a", "operator": "Exists", "values": ["-"]},
                                        {"key": "a", "operator": "Gt", "values": ["1"]},
                                    ]
                                },
                            },
                        }
                    ]
                }
            },
        },
        [
            "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 500: must be in the range 1-100",
            "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            f'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[1].values[0]: Invalid value: "-": {VALUE}',
            'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[2].operator: Invalid value: "Gt": not a valid selector operator',
            f'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespaceSelector.matchLabels: Invalid value: "-": name part {KEY}',
            f'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespace: Invalid value: "A": {LABEL}',
        ],
        id="pod affinity in bad namespaces with bad selectors",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "zone", "matchLabelKeys": ["app"], "mismatchLabelKeys": ["tier"]}
                    ]
                }
            },
        },
        [
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
        ],
        id="label keys need a selector",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "zone",
                            "labelSelector": {"matchLabels": {"app": "x"}},
                            "matchLabelKeys": ["-", "app"],
                            "mismatchLabelKeys": ["app"],
                        }
                    ]
                }
            },
        },
        [
            f'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]: Invalid value: "-": name part {KEY}',
            'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][1]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
            'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][1]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
            'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[1]: Invalid value: "app": exists in both matchLabelKeys and mismatchLabelKeys',
        ],
        id="label keys of both kinds, or in the selector already",
    ),
    pytest.param(
        {"containers": [CONTAINER], "topologySpreadConstraints": [{}]},
        [
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
        ],
        id="a constraint without anything",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
                {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            ],
        },
        [
            'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"'
        ],
        id="constraints twice the same",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 0}
            ],
        },
        [
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
        ],
        id="minimal domains",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "nodeAffinityPolicy": "Maybe",
                    "nodeTaintsPolicy": "",
                    "matchLabelKeys": ["app"],
                    "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
                }
            ],
        },
        [
            'spec.topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "Maybe": supported values: "Honor", "Ignore"',
            'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "": supported values: "Honor", "Ignore"',
            'spec.topologySpreadConstraints[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
        ],
        id="inclusion policies and label keys",
    ),
    pytest.param(
        {"containers": [CONTAINER], "tolerations": [{}]},
        [
            'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"'
        ],
        id="a toleration of nothing",
    ),
    pytest.param(
        {"containers": [CONTAINER], "tolerations": [{"operator": "Exists"}]}, [], id="a toleration of everything"
    ),
    pytest.param(
        {"containers": [CONTAINER], "tolerations": [{"key": "-", "operator": "Equal", "value": "-"}]},
        [
            f'spec.tolerations[0].key: Invalid value: "-": name part {KEY}',
            f'spec.tolerations[0].operator: Invalid value: "-": {VALUE}',
        ],
        id="a toleration of a bad key and value",
    ),
    pytest.param(
        {"containers": [CONTAINER], "tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]},
        ["spec.tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'"],
        id="a toleration that exists has no value",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 5, "effect": "NoSchedule"}],
        },
        [
            "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"
        ],
        id="a toleration for some time",
    ),
    pytest.param(
        {"containers": [CONTAINER], "tolerations": [{"key": "a", "operator": "<", "effect": "Nothing"}]},
        [
            'spec.tolerations[0].operator: Unsupported value: "\\u003c": supported values: "Equal", "Exists"',
            'spec.tolerations[0].effect: Unsupported value: "Nothing": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        ],
        id="a toleration with unknown operator and effect",
    ),
    pytest.param(
        {"containers": [CONTAINER], "tolerations": [{"key": "a", "operator": "Lt", "value": "5"}]},
        ['spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"'],
        id="a toleration by comparison is behind a gate",
    ),
    pytest.param(
        {"containers": [CONTAINER], "schedulingGates": [{"name": "-"}, {"name": "a"}, {"name": "a"}]},
        [
            f'spec.schedulingGates[0]: Invalid value: "-": name part {KEY}',
            'spec.schedulingGates[2]: Duplicate value: "a"',
        ],
        id="gates are qualified names, each once",
    ),
    pytest.param(
        {"containers": [CONTAINER], "schedulingGates": [{"name": "a"}], "nodeName": "n1"},
        ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
        id="a gated pod has no node yet",
    ),
    pytest.param(
        {"containers": [CONTAINER], "readinessGates": [{"conditionType": "not a name"}]},
        [f'spec.readinessGates[0].conditionType: Invalid value: "not a name": name part {KEY}'],
        id="readiness gates",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "nodeName": "N",
            "serviceAccountName": "S",
            "priorityClassName": "P",
            "runtimeClassName": "",
        },
        [
            f'spec.serviceAccountName: Invalid value: "S": {SUBDOMAIN}',
            f'spec.nodeName: Invalid value: "N": {SUBDOMAIN}',
            f'spec.priorityClassName: Invalid value: "P": {SUBDOMAIN}',
            f'spec.runtimeClassName: Invalid value: "": {SUBDOMAIN}',
        ],
        id="names of nodes, accounts, priority and runtime classes",
    ),
    pytest.param(
        {"containers": [CONTAINER], "preemptionPolicy": "Always"},
        ['spec.preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"'],
        id="preemption",
    ),
    pytest.param(
        {"containers": [CONTAINER], "preemptionPolicy": ""},
        ["spec.preemptionPolicy: Required value"],
        id="preemption that is empty",
    ),
]


@pytest.mark.parametrize(("spec", "lines"), CASES)
def test_says_what_the_api_server_says(spec: dict[str, Any], lines: list[str]) -> None:
    metadata = {"name": "p", "namespace": "default", "labels": {"app": "web"}}
    pod = {"metadata": metadata, "spec": spec}
    assert answer_validate({"id": 0, "pod": pod}).get("invalid", []) == lines
