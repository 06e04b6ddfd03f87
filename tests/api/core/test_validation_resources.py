"""Resources: requests, limits, claims, and what a pod asks for as a whole.

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
CONTAINER = {"name": "c", "image": "web:1"}

CASES = [
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "-1"}}}]},
        ['spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
        id="a negative amount",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1500m"}}}
            ]
        },
        ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1500m'],
        id="a request above its limit",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "1500m"}, "limits": {"cpu": "1.5"}}}
            ]
        },
        [],
        id="equal amounts in other words",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "resources": {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "2"}},
                }
            ]
        },
        ['spec.containers[0].resources.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2'],
        id="a device is requested as it is limited",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"nvidia.com/gpu": "1"}}}]},
        ["spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"],
        id="a device needs a limit",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"limits": {"nvidia.com/gpu": "500m"}}}]},
        [
            'spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
            'spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
        ],
        id="half a device",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"limits": {"gpu": "1"}}}]},
        [
            'spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
            'spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
            'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
            'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
        ],
        id="a name that is nobody's",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"limits": {"pods": "1"}}}]},
        [
            'spec.containers[0].resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers',
            'spec.containers[0].resources.requests[pods]: Invalid value: "pods": must be a standard resource for containers',
        ],
        id="a name that is not for containers",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"limits": {"bad name/x": "1"}}}]},
        [
            f'spec.containers[0].resources.limits[bad name/x]: Invalid value: "bad name/x": prefix part {SUBDOMAIN}',
            'spec.containers[0].resources.limits[bad name/x]: Invalid value: "bad name/x": doesn\'t follow extended resource name standard',
            f'spec.containers[0].resources.requests[bad name/x]: Invalid value: "bad name/x": prefix part {SUBDOMAIN}',
            'spec.containers[0].resources.requests[bad name/x]: Invalid value: "bad name/x": doesn\'t follow extended resource name standard',
        ],
        id="a name that is not even a name",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"limits": {"hugepages-2Mi": "3Mi"}}}]},
        [
            'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
            'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
            "spec.containers[0].resources: Forbidden: HugePages require cpu or memory",
        ],
        id="hugepages come whole and with cpu or memory",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "resources": {"limits": {"cpu": "1", "hugepages-big": "3Mi"}}}
            ]
        },
        [
            'spec.containers[0].resources.limits[hugepages-big]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-big',
            'spec.containers[0].resources.requests[hugepages-big]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-big',
        ],
        id="hugepages of no size",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "resources": {"claims": [{"name": "gpu"}, {"name": ""}]}}]},
        [
            'spec.containers[0].resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty',
            "spec.containers[0].resources.claims[1]: Required value",
        ],
        id="claims that the pod does not have",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "resources": {
                        "claims": [
                            {"name": "gpu", "request": "a"},
                            {"name": "gpu", "request": "a"},
                            {"name": "gpu"},
                            {"name": "gpu"},
                            {"name": "other", "request": "A"},
                        ]
                    },
                }
            ],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "x"}],
        },
        [
            'spec.containers[0].resources.claims[1]: Duplicate value: "gpu/a"',
            'spec.containers[0].resources.claims[2]: Duplicate value: "gpu"',
            'spec.containers[0].resources.claims[3]: Duplicate value: "gpu"',
            f'spec.containers[0].resources.claims[4].request: Invalid value: "A": {LABEL}',
            'spec.containers[0].resources.claims[4]: Not found: "other": must be one of the names in pod.spec.resourceClaims: gpu',
        ],
        id="claims named twice",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "resourceClaims": [
                {"name": ""},
                {"name": "A", "resourceClaimName": "x", "resourceClaimTemplateName": "y"},
                {"name": "b", "resourceClaimName": "B"},
                {"name": "b", "resourceClaimTemplateName": "B"},
            ],
        },
        [
            "spec.resourceClaims[0].name: Required value",
            'spec.resourceClaims[0]: Invalid value: {"Name":"","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
            f'spec.resourceClaims[1].name: Invalid value: "A": {LABEL}',
            'spec.resourceClaims[1]: Invalid value: {"Name":"A","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
            f'spec.resourceClaims[2].resourceClaimName: Invalid value: "B": {SUBDOMAIN}',
            'spec.resourceClaims[3].name: Duplicate value: "b"',
            f'spec.resourceClaims[3].resourceClaimTemplateName: Invalid value: "B": {SUBDOMAIN}',
        ],
        id="claims of the pod",
    ),
    pytest.param(
        {"containers": [CONTAINER], "overhead": {"cpu": "-1", "gpu": "1"}},
        [
            'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            'spec.overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
            'spec.overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
        ],
        id="overhead",
    ),
    pytest.param(
        {
            "containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "2"}}}],
            "resources": {"requests": {"cpu": "1"}},
        },
        [
            'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2'
        ],
        id="a pod that asks for less than its containers",
    ),
    pytest.param(
        {
            "containers": [{"name": "c", "image": "web:1", "resources": {"limits": {"cpu": "2"}}}],
            "resources": {"limits": {"cpu": "1"}},
        },
        [
            'spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
            'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1',
        ],
        id="a container that may have more than its pod",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}}}
            ],
            "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "2Mi"}},
        },
        [
            'spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container requests of 4Mi',
            'spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi',
            'spec.resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod limits of 2Mi',
        ],
        id="a pod with fewer hugepages than its containers",
    ),
    pytest.param(
        {"containers": [CONTAINER], "resources": {"limits": {"nvidia.com/gpu": "1"}, "claims": [{"name": "x"}]}},
        [
            "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level",
            'spec.resources.limits[nvidia.com/gpu]: Unsupported value: "nvidia.com/gpu": supported values: "cpu", "hugepages-", "memory"',
            'spec.resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
        ],
        id="a pod as a whole has cpu, memory and hugepages only",
    ),
    pytest.param(
        {"containers": [CONTAINER], "os": {"name": "windows"}, "resources": {"limits": {"cpu": "1"}}},
        ["spec.resources: Forbidden: may not be set for a windows pod"],
        id="a windows pod has none as a whole",
    ),
]


@pytest.mark.parametrize(("spec", "lines"), CASES)
def test_says_what_the_api_server_says(spec: dict[str, Any], lines: list[str]) -> None:
    metadata = {"name": "p", "namespace": "default", "labels": {"app": "web"}}
    pod = {"metadata": metadata, "spec": spec}
    assert answer_validate({"id": 0, "pod": pod}).get("invalid", []) == lines
