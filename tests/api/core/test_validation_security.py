"""Security contexts, operating systems and profiles.

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
CONTAINER = {"name": "c", "image": "web:1"}

CASES = [
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [CONTAINER],
                "securityContext": {
                    "runAsUser": -1,
                    "runAsGroup": 2147483648,
                    "fsGroup": -1,
                    "supplementalGroups": [1, -1],
                },
            },
        },
        [
            "spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            "spec.securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
            "spec.securityContext.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        ],
        id="users and groups in range",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "c", "image": "web:1", "securityContext": {"runAsUser": -1, "runAsGroup": -1}}]
            },
        },
        [
            "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            "spec.containers[0].securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        ],
        id="users and groups of a container",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [CONTAINER],
                "securityContext": {
                    "fsGroupChangePolicy": "Maybe",
                    "supplementalGroupsPolicy": "Maybe",
                    "seLinuxChangePolicy": "MountOption",
                },
            },
        },
        [
            'spec.securityContext.fsGroupChangePolicy: Unsupported value: "Maybe": supported values: "Always", "OnRootMismatch"',
            'spec.securityContext.supplementalGroupsPolicy: Unsupported value: "Maybe": supported values: "Merge", "Strict"',
            'spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"',
        ],
        id="unknown policies",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "shareProcessNamespace": True, "hostPID": True},
        },
        [
            "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"
        ],
        id="a process namespace is shared or the host's",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [CONTAINER],
                "securityContext": {
                    "sysctls": [
                        {"name": "", "value": ""},
                        {"name": "Net", "value": ""},
                        {"name": "a.b", "value": ""},
                        {"name": "a.b", "value": ""},
                    ]
                },
            },
        },
        [
            "spec.securityContext.sysctls[0].name: Required value",
            'spec.securityContext.sysctls[1].name: Invalid value: "Net": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
            'spec.securityContext.sysctls[3].name: Duplicate value: "a.b"',
        ],
        id="sysctls",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [CONTAINER],
                "securityContext": {
                    "sysctls": [
                        {"name": "net.ipv4.x", "value": ""},
                        {"name": "kernel.shm_rmid_forced", "value": ""},
                        {"name": "fs/mqueue/x", "value": ""},
                        {"name": "vm.x", "value": ""},
                    ]
                },
                "hostNetwork": True,
                "hostIPC": True,
            },
        },
        [
            "spec.securityContext.sysctls[0].name: Invalid value: \"net.ipv4.x\": may not be specified when 'hostNetwork' is true",
            "spec.securityContext.sysctls[1].name: Invalid value: \"kernel.shm_rmid_forced\": may not be specified when 'hostIPC' is true",
            "spec.securityContext.sysctls[2].name: Invalid value: \"fs/mqueue/x\": may not be specified when 'hostIPC' is true",
        ],
        id="sysctls of the host",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "securityContext": {"seccompProfile": {}}},
        },
        ["spec.securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set"],
        id="seccomp without type",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "c", "image": "web:1", "securityContext": {"seccompProfile": {"type": "Own"}}}]
            },
        },
        [
            'spec.containers[0].securityContext.seccompProfile.type: Unsupported value: "Own": supported values: "Localhost", "RuntimeDefault", "Unconfined"'
        ],
        id="seccomp of unknown type",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"seccompProfile": {"type": "Localhost"}}}
                ]
            },
        },
        [
            "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost"
        ],
        id="seccomp from nowhere",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "../x"}},
                    }
                ]
            },
        },
        [
            "spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: \"../x\": must not contain '..'"
        ],
        id="seccomp from above",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"seccompProfile": {"type": "Unconfined", "localhostProfile": "x"}},
                    }
                ]
            },
        },
        [
            'spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"Unconfined","LocalhostProfile":"x"}: can only be set when seccomp type is Localhost'
        ],
        id="seccomp from somewhere else",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "securityContext": {"appArmorProfile": {}}},
        },
        ["spec.securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set"],
        id="AppArmor without type",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "securityContext": {"appArmorProfile": {"type": "Own"}}},
        },
        [
            'spec.securityContext.appArmorProfile.type: Unsupported value: "Own": supported values: "Localhost", "RuntimeDefault", "Unconfined"'
        ],
        id="AppArmor of unknown type",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"appArmorProfile": {"type": "Localhost"}}}
                ]
            },
        },
        [
            "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost"
        ],
        id="AppArmor from nowhere",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": " x"}},
                    }
                ]
            },
        },
        [
            'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: " x": must not be padded with whitespace'
        ],
        id="AppArmor with spaces",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "x" * 4096}},
                    }
                ]
            },
        },
        [
            "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes"
        ],
        id="AppArmor that is too long",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"appArmorProfile": {"type": "RuntimeDefault", "localhostProfile": "x"}},
                    }
                ]
            },
        },
        [
            'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost'
        ],
        id="AppArmor from somewhere else",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "privileged": True,
                            "capabilities": {"add": ["CAP_SYS_ADMIN"]},
                            "seLinuxOptions": {"level": "s0"},
                        },
                    }
                ]
            },
        },
        [
            'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,"SELinuxOptions":{"User":"","Role":"","Type":"","Level":"s0"},"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
            'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,"SELinuxOptions":{"User":"","Role":"","Type":"","Level":"s0"},"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        ],
        id="escalation of the privileged",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "web:1", "securityContext": {"procMount": "Unmasked"}}]},
        },
        [
            'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'
        ],
        id="unmasked for own users only",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "web:1", "securityContext": {"procMount": "Half"}}]},
        },
        [
            'spec.containers[0].securityContext.procMount: Unsupported value: "Half": supported values: "Default", "Unmasked"'
        ],
        id="unknown proc mount",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "c", "image": "web:1", "volumeDevices": [{"name": "v", "devicePath": "/d"}]}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
                "hostUsers": False,
                "hostNetwork": True,
                "hostPID": True,
                "hostIPC": True,
            },
        },
        [
            "spec.hostNetwork: Forbidden: when `hostUsers` is false",
            "spec.HostPID: Forbidden: when `hostUsers` is false",
            "spec.HostIPC: Forbidden: when `hostUsers` is false",
            "spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false",
        ],
        id="own users cannot share with the host",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "os": {"name": "plan9"}},
        },
        ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
        id="an unknown operating system",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [CONTAINER], "os": {}},
        },
        ["spec.os.name: Required value"],
        id="an operating system without name",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "c", "image": "web:1", "securityContext": {"windowsOptions": {}}}],
                "os": {"name": "linux"},
                "securityContext": {"windowsOptions": {}},
            },
        },
        [
            "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
            "spec.containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
        ],
        id="windows options on linux",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {
                            "runAsUser": 1,
                            "capabilities": {},
                            "privileged": False,
                            "procMount": "Default",
                        },
                    }
                ],
                "os": {"name": "windows"},
                "hostPID": True,
                "shareProcessNamespace": True,
                "securityContext": {"fsGroup": 1, "seLinuxOptions": {}, "sysctls": [{"name": "a", "value": "b"}]},
            },
        },
        [
            "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
            "spec.securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod",
            "spec.hostPID: Forbidden: cannot be set for a windows pod",
            "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
            "spec.securityContext.sysctls: Forbidden: cannot be set for a windows pod",
            "spec.shareProcessNamespace: Forbidden: cannot be set for a windows pod",
            "spec.containers[0].securityContext.capabilities: Forbidden: cannot be set for a windows pod",
            "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod",
            "spec.containers[0].securityContext.procMount: Forbidden: cannot be set for a windows pod",
            "spec.containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
        ],
        id="linux options on windows",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {
                            "windowsOptions": {
                                "gmsaCredentialSpecName": "A",
                                "gmsaCredentialSpec": "",
                                "runAsUserName": "",
                            }
                        },
                    }
                ]
            },
        },
        [
            f'spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": {SUBDOMAIN}',
            'spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string',
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string',
        ],
        id="windows users",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"windowsOptions": {"runAsUserName": "a\x01"}}}
                ]
            },
        },
        [
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\u0001": runAsUserName cannot contain control characters'
        ],
        id="windows users with control characters",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"windowsOptions": {"runAsUserName": "a\\b\\c"}}}
                ]
            },
        },
        [
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash'
        ],
        id="windows users with two domains",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"windowsOptions": {"runAsUserName": ".bad.\\us@er"}},
                    }
                ]
            },
        },
        [
            "spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: \".bad.\\\\us@er\": runAsUserName's Domain doesn't match the NetBios nor the DNS format",
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: ".bad.\\\\us@er": runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]',
        ],
        id="windows users of a bad domain",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"windowsOptions": {"runAsUserName": "domain\\"}},
                    }
                ]
            },
        },
        [
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "domain\\\\": runAsUserName\'s User cannot be empty'
        ],
        id="windows users without user",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"windowsOptions": {"runAsUserName": "..."}}}
                ]
            },
        },
        [
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "...": runAsUserName\'s User cannot contain only periods or spaces'
        ],
        id="windows users of dots",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"windowsOptions": {"runAsUserName": "d" * 256 + "\\" + "u" * 105}},
                    }
                ]
            },
        },
        [
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "'
            + "d" * 256
            + "\\\\"
            + "u" * 105
            + "\": runAsUserName's Domain length must be under 256 characters",
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "'
            + "d" * 256
            + "\\\\"
            + "u" * 105
            + "\": runAsUserName's Domain doesn't match the NetBios nor the DNS format",
            'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "'
            + "d" * 256
            + "\\\\"
            + "u" * 105
            + "\": runAsUserName's User length must not be longer than 104 characters",
        ],
        id="windows users that are too long",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"windowsOptions": {"gmsaCredentialSpec": "x" * 70000}},
                    }
                ]
            },
        },
        [
            'spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "'
            + "x" * 70000
            + '": gmsaCredentialSpec size must be under 64 KiB'
        ],
        id="windows credentials that are too long",
    ),
    pytest.param(
        {
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "w:1", "securityContext": {"windowsOptions": {"hostProcess": False}}},
                    {"name": "d", "image": "w:1"},
                ],
                "securityContext": {"windowsOptions": {"hostProcess": True}},
            },
        },
        [
            "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true",
            'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
            "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
        ],
        id="host processes altogether or not at all",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.seccomp.security.alpha.kubernetes.io/c": "unconfined"},
            },
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}
                ]
            },
        },
        [
            "spec.containers[0].securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"
        ],
        id="seccomp that says two things",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.seccomp.security.alpha.kubernetes.io/c": "localhost/a"},
            },
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "b"}},
                    }
                ]
            },
        },
        [
            "spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match"
        ],
        id="seccomp that says two files",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.seccomp.security.alpha.kubernetes.io/c": "unconfined"},
            },
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "b"}},
                    }
                ]
            },
        },
        [
            "spec.containers[0].securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"
        ],
        id="seccomp that says a file and another thing",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.seccomp.security.alpha.kubernetes.io/c": "docker/default"},
            },
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}
                ]
            },
        },
        [],
        id="seccomp that says the same twice",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"},
            },
            "spec": {
                "containers": [
                    {"name": "c", "image": "web:1", "securityContext": {"appArmorProfile": {"type": "Unconfined"}}}
                ]
            },
        },
        [
            "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match"
        ],
        id="AppArmor that says two things",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.apparmor.security.beta.kubernetes.io/c": "localhost/a"},
            },
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "web:1",
                        "securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "b"}},
                    }
                ]
            },
        },
        [
            "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match"
        ],
        id="AppArmor that says two files",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.apparmor.security.beta.kubernetes.io/c": "localhost/a"},
            },
            "spec": {
                "containers": [{"name": "c", "image": "web:1", "securityContext": {"appArmorProfile": {"type": "Own"}}}]
            },
        },
        [
            'spec.containers[0].securityContext.appArmorProfile.type: Unsupported value: "Own": supported values: "Localhost", "RuntimeDefault", "Unconfined"'
        ],
        id="AppArmor of unknown type beside an annotation",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"},
            },
            "spec": {"containers": [CONTAINER], "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}},
        },
        ["spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"],
        id="seccomp of a whole pod that says two things",
    ),
    pytest.param(
        {
            "metadata": {
                "name": "p",
                "namespace": "default",
                "annotations": {"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"},
            },
            "spec": {"containers": [CONTAINER], "os": {"name": "windows"}},
        },
        [],
        id="AppArmor annotations do not matter on windows",
    ),
]


@pytest.mark.parametrize(("pod", "lines"), CASES)
def test_says_what_the_api_server_says(pod: dict[str, Any], lines: list[str]) -> None:
    assert answer_validate({"id": 0, "pod": pod}).get("invalid", []) == lines
