"""Containers: what is refused about them, line by line.

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
CONTAINER = {"name": "c", "image": "web:1"}

CASES = [
    pytest.param({"containers": []}, ["spec.containers: Required value"], id="a pod needs a container"),
    pytest.param(
        {"containers": [{}]},
        ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
        id="a container needs a name and an image",
    ),
    pytest.param(
        {"containers": [{"name": "Web", "image": "web:1"}]},
        [f'spec.containers[0].name: Invalid value: "Web": {LABEL}'],
        id="a container's name is a DNS label",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "a:1"}, {"name": "c", "image": "b:1"}]},
        ['spec.containers[1].name: Duplicate value: "c"'],
        id="two containers cannot share a name",
    ),
    pytest.param(
        {"containers": [CONTAINER], "initContainers": [{"name": "c", "image": "a:1"}]},
        ['spec.initContainers[0].name: Duplicate value: "c"'],
        id="an init container cannot share a name with a container",
    ),
    pytest.param(
        {"containers": [CONTAINER], "initContainers": [{"name": "i", "image": "a:1"}, {"name": "i", "image": "a:1"}]},
        ['spec.initContainers[1].name: Duplicate value: "i"'],
        id="two init containers cannot share a name",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": " web:1 "}]},
        ['spec.containers[0].image: Invalid value: " web:1 ": must not have leading or trailing whitespace'],
        id="spaces around an image",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "ephemeralContainers": [
                {
                    "name": "c",
                    "image": " x",
                    "targetContainerName": "none",
                    "ports": [{"containerPort": 1}],
                    "resources": {"limits": {"cpu": "1"}},
                    "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "s", "subPathExpr": "s"}],
                }
            ],
        },
        [
            'spec.ephemeralContainers[0].volumeMounts[0].name: Not found: "v"',
            'spec.ephemeralContainers[0].volumeMounts[0].subPathExpr: Invalid value: "s": subPathExpr and subPath are mutually exclusive',
            'spec.ephemeralContainers[0].image: Invalid value: " x": must not have leading or trailing whitespace',
            'spec.ephemeralContainers[0].name: Duplicate value: "c"',
            'spec.ephemeralContainers[0].targetContainerName: Not found: "none"',
            "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
            "spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container",
            "spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container",
            "spec.ephemeralContainers[0].volumeMounts[0].subPathExpr: Forbidden: cannot be set for an Ephemeral Container",
            "spec.ephemeralContainers: Forbidden: cannot be set on create",
        ],
        id="ephemeral containers come later",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "imagePullPolicy": "Sometimes"}]},
        [
            'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"'
        ],
        id="an unknown pull policy",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "terminationMessagePolicy": "Mail"}]},
        [
            'spec.containers[0].terminationMessagePolicy: Unsupported value: "Mail": supported values: "File", "FallbackToLogsOnError"'
        ],
        id="an unknown message policy",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "ports": [{"name": "http"}]}]},
        ["spec.containers[0].ports[0].containerPort: Required value"],
        id="a port needs a number",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "ports": [{"containerPort": 70000, "hostPort": -1, "protocol": "ICMP"}]}
            ]
        },
        [
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            "spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
            'spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
        ],
        id="ports out of range, an unknown protocol",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "ports": [{"containerPort": 80, "name": "A-very-long--name-"}]}
            ]
        },
        [
            'spec.containers[0].ports[0].name: Invalid value: "A-very-long--name-": must be no more than 15 characters',
            'spec.containers[0].ports[0].name: Invalid value: "A-very-long--name-": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
            'spec.containers[0].ports[0].name: Invalid value: "A-very-long--name-": must not contain consecutive hyphens',
            'spec.containers[0].ports[0].name: Invalid value: "A-very-long--name-": must not begin or end with a hyphen',
        ],
        id="a port's name is short and lower case",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 81, "name": "http"}],
                }
            ]
        },
        ['spec.containers[0].ports[1].name: Duplicate value: "http"'],
        id="two ports cannot share a name",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "a:1", "ports": [{"containerPort": 80, "hostPort": 80}]},
                {"name": "d", "image": "a:1", "ports": [{"containerPort": 81, "hostPort": 80}]},
            ]
        },
        ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"'],
        id="two containers cannot share a host port",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "a:1", "ports": [{"containerPort": 80, "hostPort": 80}]},
                {
                    "name": "d",
                    "image": "a:1",
                    "ports": [
                        {"containerPort": 81, "hostPort": 80, "protocol": "UDP"},
                        {"containerPort": 82, "hostPort": 80, "hostIP": "10.0.0.1"},
                    ],
                },
            ]
        },
        [],
        id="they can on different addresses or protocols",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "initContainers": [
                {
                    "name": "i",
                    "image": "web:1",
                    "ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}],
                }
            ],
        },
        ['spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
        id="an init container cannot take a host port twice",
    ),
    pytest.param(
        {
            "containers": [{"name": "c", "image": "web:1", "ports": [{"containerPort": 80, "hostPort": 81}]}],
            "hostNetwork": True,
        },
        [
            "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"
        ],
        id="on the host network the ports must agree",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "env": [{"name": ""}, {"name": "A=B"}]}]},
        [
            "spec.containers[0].env[0].name: Required value",
            "spec.containers[0].env[1].name: Invalid value: \"A=B\": a valid environment variable name must consist only of printable ASCII characters other than '='",
        ],
        id="an environment variable needs a name",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                }
            ]
        },
        ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
        id="a value and a source exclude each other",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "env": [{"name": "A", "valueFrom": {}}]}]},
        [
            'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
        ],
        id="a source must be given",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {
                            "name": "A",
                            "valueFrom": {
                                "fieldRef": {"fieldPath": "metadata.name"},
                                "secretKeyRef": {"name": "s", "key": "k"},
                            },
                        }
                    ],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'
        ],
        id="only one source",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.color"}}}],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.color": error converting fieldPath: field label not supported: metadata.color'
        ],
        id="an unknown field",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"'
        ],
        id="a field that is not for the environment",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}}
                    ],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2'
        ],
        id="a field of another version",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}]},
        ["spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Required value"],
        id="a missing field",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name['x']"}}}],
                }
            ]
        },
        [
            "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"metadata.name['x']\": error converting fieldPath: field label does not support subscript: metadata.name['x']"
        ],
        id="a subscript where none is",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['-x']"}}}],
                }
            ]
        },
        [f'spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: "-x": name part {KEY}'],
        id="a subscript that is no label key",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['Example.com/X']"}}}
                    ],
                }
            ]
        },
        [],
        id="an annotation in capitals is fine",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.host"}}}],
                }
            ]
        },
        [],
        id="the old name of the node is fine",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "env": [{"name": "A", "valueFrom": {"resourceFieldRef": {}}}]}
            ]
        },
        ["spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Required value"],
        id="a missing resource",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.gpu"}}}],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"'
        ],
        id="an unknown resource",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}}}
                    ],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource'
        ],
        id="a divisor that is not for cpu",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {
                            "name": "A",
                            "valueFrom": {"resourceFieldRef": {"resource": "requests.memory", "divisor": "3Mi"}},
                        }
                    ],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.memory": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource'
        ],
        id="a divisor that is not for memory",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {
                            "name": "A",
                            "valueFrom": {
                                "resourceFieldRef": {"resource": "limits.ephemeral-storage", "divisor": "1m"}
                            },
                        }
                    ],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource'
        ],
        id="a divisor that is not for storage",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {
                            "name": "A",
                            "valueFrom": {"resourceFieldRef": {"resource": "limits.hugepages-2Mi", "divisor": "3"}},
                        }
                    ],
                }
            ]
        },
        [
            'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.hugepages-2Mi": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the hugepages resource'
        ],
        id="a divisor that is not for hugepages",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "A", "key": ""}}}],
                }
            ]
        },
        [
            f'spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "A": {SUBDOMAIN}',
            "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value",
        ],
        id="references to nameless keys",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "a b"}}}],
                }
            ]
        },
        [
            "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        ],
        id="references to bad keys",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [
                        {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "../f", "key": "a=b"}}}
                    ],
                }
            ]
        },
        [
            "spec.containers[0].env[0].valueFrom.fileKeyRef.key: Invalid value: \"a=b\": a valid environment variable name must consist only of printable ASCII characters other than '='",
            "spec.containers[0].env[0].valueFrom.fileKeyRef.path: Invalid value: \"../f\": must not contain '..'",
            'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"',
        ],
        id="a file of no volume",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "env": [{"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "f", "key": "K"}}}],
                }
            ],
            "volumes": [{"name": "v", "hostPath": {"path": "/x"}}],
        },
        [
            'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir'
        ],
        id="a file of a volume that is not empty",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "env": [{"name": "A", "valueFrom": {"fileKeyRef": {}}}]}]},
        [
            "spec.containers[0].env[0].valueFrom.fileKeyRef.key: Required value",
            "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Required value",
            "spec.containers[0].env[0].valueFrom.fileKeyRef.path: Required value",
            'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
        ],
        id="a file without anything",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "envFrom": [{}]}]},
        ['spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
        id="environment from nowhere",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "envFrom": [{"prefix": "a=", "configMapRef": {"name": "c"}, "secretRef": {}}],
                }
            ]
        },
        [
            "spec.containers[0].envFrom[0].prefix: Invalid value: \"a=\": a valid environment variable name must consist only of printable ASCII characters other than '='",
            "spec.containers[0].envFrom[0].secretRef.name: Required value",
            'spec.containers[0].envFrom: Invalid value: "": may not have more than one field specified at a time',
        ],
        id="environment from two places with a bad prefix",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
        ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
        id="a mount of no volume",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "volumeMounts": [{}]}]},
        [
            "spec.containers[0].volumeMounts[0].name: Required value",
            'spec.containers[0].volumeMounts[0].name: Not found: ""',
            "spec.containers[0].volumeMounts[0].mountPath: Required value",
        ],
        id="a mount without anything",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/v"}],
                }
            ],
            "volumes": [{"name": "v"}],
        },
        ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/v": must be unique'],
        id="a path is mounted once",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "/a", "subPathExpr": "../b"}],
                }
            ],
            "volumes": [{"name": "v"}],
        },
        [
            'spec.containers[0].volumeMounts.subPath: Invalid value: "/a": must be a relative path',
            'spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "../b": subPathExpr and subPath are mutually exclusive',
            "spec.containers[0].volumeMounts.subPathExpr: Invalid value: \"../b\": must not contain '..'",
        ],
        id="paths inside a volume stay inside",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "volumeMounts": [{"name": "v", "mountPath": "/v", "mountPropagation": "Bidirectional"}],
                }
            ],
            "volumes": [{"name": "v"}],
        },
        [
            "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers"
        ],
        id="mounts are propagated by the privileged",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "volumeMounts": [
                        {"name": "v", "mountPath": "/v", "mountPropagation": "Up", "recursiveReadOnly": "Yes"}
                    ],
                }
            ],
            "volumes": [{"name": "v"}],
        },
        [
            'spec.containers[0].volumeMounts.mountPropagation: Unsupported value: "Up": supported values: "Bidirectional", "HostToContainer", "None"',
            'spec.containers[0].volumeMounts.recursiveReadOnly: Unsupported value: "Yes": supported values: "Disabled", "Enabled", "IfPossible"',
        ],
        id="an unknown propagation and recursion",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "volumeMounts": [
                        {
                            "name": "v",
                            "mountPath": "/v",
                            "mountPropagation": "HostToContainer",
                            "recursiveReadOnly": "Enabled",
                        }
                    ],
                }
            ],
            "volumes": [{"name": "v"}],
        },
        [
            "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
            "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified",
        ],
        id="recursively read-only is read-only",
    ),
    pytest.param(
        {
            "containers": [{"name": "c", "image": "web:1", "volumeDevices": [{"name": "v", "devicePath": "/dev/x"}]}],
            "volumes": [{"name": "v"}],
        },
        [
            'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
        ],
        id="a device of a volume that is no claim",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "volumeDevices": [{"name": "v", "devicePath": "../x"}, {"name": "v", "devicePath": ""}],
                }
            ]
        },
        [
            'spec.containers[0].volumeDevices[0].name: Not found: "v"',
            "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"../x\": can not contain backsteps ('..')",
            'spec.containers[0].volumeDevices[1].name: Invalid value: "v": must be unique',
            'spec.containers[0].volumeDevices[1].name: Not found: "v"',
            "spec.containers[0].volumeDevices[1].devicePath: Required value",
        ],
        id="a device of no volume",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "volumeDevices": [{"name": "v", "devicePath": "/v"}, {"name": "", "devicePath": "/v"}],
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                }
            ],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        },
        [
            'spec.containers[0].volumeMounts[0].name: Invalid value: "v": must not already exist in volumeDevices',
            'spec.containers[0].volumeMounts[0].mountPath: Invalid value: "/v": must not already exist as a path in volumeDevices',
            'spec.containers[0].volumeDevices[0].name: Invalid value: "v": must not already exist in volumeMounts',
            'spec.containers[0].volumeDevices[0].devicePath: Invalid value: "/v": must not already exist as a path in volumeMounts',
            "spec.containers[0].volumeDevices[1].name: Required value",
            'spec.containers[0].volumeDevices[1].name: Not found: ""',
            'spec.containers[0].volumeDevices[1].devicePath: Invalid value: "/v": must be unique',
            'spec.containers[0].volumeDevices[1].devicePath: Invalid value: "/v": must not already exist as a path in volumeMounts',
        ],
        id="a volume is a mount or a device",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "livenessProbe": {}}]},
        ["spec.containers[0].livenessProbe: Required value: must specify a handler type"],
        id="a probe needs a handler",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "livenessProbe": {"exec": {"command": ["x"]}, "tcpSocket": {"port": 80}},
                }
            ]
        },
        ["spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
        id="a probe has one handler",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "livenessProbe": {"exec": {}}}]},
        ["spec.containers[0].livenessProbe.exec.command: Required value"],
        id="a command cannot be empty",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "livenessProbe": {
                        "httpGet": {"port": 0, "scheme": "FTP", "httpHeaders": [{"name": "a b", "value": ""}]}
                    },
                }
            ]
        },
        [
            "spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
            'spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
            "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
        ],
        id="a probe's port exists",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "livenessProbe": {"tcpSocket": {"port": "HTTP"}}}]},
        [
            'spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: "HTTP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
            'spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: "HTTP": must contain at least one letter (a-z)',
        ],
        id="a probe's port has a proper name",
    ),
    pytest.param(
        {"containers": [{"name": "c", "image": "web:1", "livenessProbe": {"grpc": {"port": 70000}}}]},
        ["spec.containers[0].livenessProbe.grpc.port: Invalid value: 70000: must be between 1 and 65535, inclusive"],
        id="a probe's port is in range",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "livenessProbe": {
                        "exec": {"command": ["x"]},
                        "initialDelaySeconds": -1,
                        "timeoutSeconds": -1,
                        "periodSeconds": -1,
                        "successThreshold": 2,
                        "failureThreshold": -1,
                        "terminationGracePeriodSeconds": 0,
                    },
                }
            ]
        },
        [
            "spec.containers[0].livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0",
            "spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0",
            "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
            "spec.containers[0].livenessProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0",
            "spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
            "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ],
        id="a probe's numbers",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "readinessProbe": {"exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 5},
                }
            ]
        },
        [
            "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes"
        ],
        id="readiness has no grace period",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "startupProbe": {"exec": {"command": ["x"]}, "successThreshold": 3}}
            ]
        },
        ["spec.containers[0].startupProbe.successThreshold: Invalid value: 3: must be 1"],
        id="startup succeeds once",
    ),
    pytest.param(
        {
            "containers": [
                {"name": "c", "image": "web:1", "lifecycle": {"preStop": {"sleep": {"seconds": 60}}, "postStart": {}}}
            ]
        },
        [
            "spec.containers[0].lifecycle.postStart: Required value: must specify a handler type",
            "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 60: must be non-negative and less than terminationGracePeriodSeconds (30)",
        ],
        id="sleep ends within the grace period",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "initContainers": [
                {
                    "name": "i",
                    "image": "web:1",
                    "livenessProbe": {"exec": {"command": ["x"]}},
                    "lifecycle": {},
                    "readinessProbe": {},
                    "startupProbe": {},
                }
            ],
        },
        [
            "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always",
            "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
            "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
            "spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
        ],
        id="init containers that end have no probes",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "initContainers": [
                {
                    "name": "i",
                    "image": "web:1",
                    "restartPolicy": "Always",
                    "livenessProbe": {"exec": {"command": ["x"]}},
                    "lifecycle": {"preStop": {"exec": {"command": ["x"]}}},
                }
            ],
        },
        [],
        id="sidecars have",
    ),
    pytest.param(
        {"containers": [CONTAINER], "initContainers": [{"name": "i", "image": "web:1", "restartPolicy": "Maybe"}]},
        [
            'spec.initContainers[0].restartPolicy: Unsupported value: "Maybe": supported values: "Always", "Never", "OnFailure"'
        ],
        id="an unknown restart policy",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "initContainers": [
                {
                    "name": "i",
                    "image": "web:1",
                    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}],
                }
            ],
        },
        [
            "spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used"
        ],
        id="restart rules need a policy",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "initContainers": [
                {
                    "name": "i",
                    "image": "web:1",
                    "restartPolicy": "Always",
                    "restartPolicyRules": [{"action": "Restart"}],
                }
            ],
        },
        [
            "spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always"
        ],
        id="restart rules are not for sidecars",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "restartPolicyRules": [
                        {"action": "Reboot", "exitCodes": {"operator": "Near", "values": [1] * 256}},
                        {"action": "Restart"},
                    ],
                }
            ]
        },
        [
            "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
            'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Reboot": supported values: "Restart"',
            'spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: "Near": supported values: "In", "NotIn"',
            "spec.containers[0].restartPolicyRules[0].exitCodes.values: Too long: may not be more than 255 bytes",
            "spec.containers[0].restartPolicyRules[1].exitCodes: Required value: must be specified",
        ],
        id="restart rules of a container",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "restartPolicy": "Never",
                    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}] * 21,
                }
            ]
        },
        ["spec.containers[0].restartPolicyRules: Too long: may not be more than 20 bytes"],
        id="too many restart rules",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "resizePolicy": [
                        {"resourceName": "cpu", "restartPolicy": "Maybe"},
                        {"resourceName": "cpu", "restartPolicy": ""},
                        {"resourceName": "gpu", "restartPolicy": "NotRequired"},
                        {"resourceName": "", "restartPolicy": "NotRequired"},
                    ],
                }
            ]
        },
        [
            'spec.containers[0].resizePolicy: Unsupported value: "Maybe": supported values: "NotRequired", "RestartContainer"',
            'spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"',
            "spec.containers[0].resizePolicy: Required value",
            'spec.containers[0].resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"',
            "spec.containers[0].resizePolicy: Required value",
        ],
        id="resize policies",
    ),
    pytest.param(
        {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
                }
            ],
            "restartPolicy": "Never",
        },
        [
            "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'"
        ],
        id="no restart on resize where nothing restarts",
    ),
]


@pytest.mark.parametrize(("spec", "lines"), CASES)
def test_says_what_the_api_server_says(spec: dict[str, Any], lines: list[str]) -> None:
    metadata = {"name": "p", "namespace": "default", "labels": {"app": "web"}}
    pod = {"metadata": metadata, "spec": spec}
    assert answer_validate({"id": 0, "pod": pod}).get("invalid", []) == lines
