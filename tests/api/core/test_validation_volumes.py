"""Volumes: one source each, with what it needs.

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
        {"containers": [CONTAINER], "volumes": [{"emptyDir": {}}]},
        ["spec.volumes[0].name: Required value"],
        id="a volume needs a name",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "My.Data", "emptyDir": {}}]},
        [f'spec.volumes[0].name: Invalid value: "My.Data": {LABEL}'],
        id="a volume's name is a DNS label",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v"}, {"name": "v"}]},
        ['spec.volumes[1].name: Duplicate value: "v"'],
        id="two volumes cannot share a name",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "emptyDir": {},
                    "hostPath": {"path": "/x"},
                    "downwardAPI": {},
                    "cephfs": {"monitors": ["a"]},
                }
            ],
        },
        [
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
            "spec.volumes[0].cephFS: Forbidden: may not specify more than 1 volume type",
            "spec.volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type",
        ],
        id="one source is enough",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "-1"}}]},
        ["spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"],
        id="an empty directory of negative size",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "hostPath": {"path": "", "type": "Hole"}}]},
        ["spec.volumes[0].hostPath.path: Required value"],
        id="a host path",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "hostPath": {"path": "/a/../b"}}]},
        ["spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"],
        id="a host path that climbs",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "gitRepo": {"repository": "", "directory": "/x/../y"}}]},
        [
            "spec.volumes[0].gitRepo.repository: Required value",
            'spec.volumes[0].gitRepo.directory: Invalid value: "/x/../y": must be a relative path',
            "spec.volumes[0].gitRepo.directory: Invalid value: \"/x/../y\": must not contain '..'",
        ],
        id="a git repository",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "", "partition": 256}}]},
        [
            "spec.volumes[0].persistentDisk.pdName: Required value",
            "spec.volumes[0].persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive",
        ],
        id="a disk of Google",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "", "partition": -1}}],
        },
        [
            "spec.volumes[0].awsElasticBlockStore.volumeID: Required value",
            "spec.volumes[0].awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive",
        ],
        id="a disk of Amazon",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {"name": "v", "secret": {"defaultMode": 512, "items": [{"key": "", "path": "..x", "mode": -1}]}}
            ],
        },
        [
            "spec.volumes[0].secret.secretName: Required value",
            "spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            "spec.volumes[0].secret.items[0].key: Required value",
            "spec.volumes[0].secret.items[0].path: Invalid value: \"..x\": must not start with '..'",
            "spec.volumes[0].secret.items[0].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
        ],
        id="a secret",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {"name": "v", "configMap": {"items": [{"key": "k", "path": ""}, {"key": "k", "path": "/abs"}]}}
            ],
        },
        [
            "spec.volumes[0].configMap.name: Required value",
            "spec.volumes[0].configMap.items[0].path: Required value",
            'spec.volumes[0].configMap.items[1].path: Invalid value: "/abs": must be a relative path',
        ],
        id="a config map",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "nfs": {"server": "", "path": "rel"}}]},
        [
            "spec.volumes[0].nfs.server: Required value",
            'spec.volumes[0].nfs.path: Invalid value: "rel": must be an absolute path',
        ],
        id="NFS",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "iscsi": {"targetPortal": "", "iqn": "", "lun": 256, "chapAuthSession": True, "initiatorName": "x"},
                }
            ],
        },
        [
            "spec.volumes[0].iscsi.targetPortal: Required value",
            "spec.volumes[0].iscsi.iqn: Required value",
            "spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            "spec.volumes[0].iscsi.secretRef: Required value",
            'spec.volumes[0].iscsi.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
        ],
        id="iSCSI",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "iscsi": {"targetPortal": "1.2.3.4:3260", "iqn": "iqn.bad", "lun": 0, "initiatorName": "eui.x"},
                }
            ],
        },
        [
            'spec.volumes[0].iscsi.iqn: Invalid value: "iqn.bad": must be valid format',
            'spec.volumes[0].iscsi.initiatorname: Invalid value: "eui.x": must be valid format',
        ],
        id="iSCSI names",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "iscsi": {
                        "targetPortal": "x" * 70,
                        "iqn": "iqn.2001-04.com.example:x",
                        "lun": 1,
                        "initiatorName": "iqn.2001-04.com.example:x",
                    },
                }
            ],
        },
        [
            'spec.volumes[0].name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
        ],
        id="iSCSI with a long name",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "glusterfs": {}}]},
        ["spec.volumes[0].glusterfs.endpoints: Required value", "spec.volumes[0].glusterfs.path: Required value"],
        id="Gluster",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "flocker": {}}]},
        ["spec.volumes[0].flocker: Required value: one of datasetName and datasetUUID is required"],
        id="Flocker without dataset",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "flocker": {"datasetName": "a/b", "datasetUUID": "u"}}]},
        [
            'spec.volumes[0].flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
            "spec.volumes[0].flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
        ],
        id="Flocker with two",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": ""}}]},
        ["spec.volumes[0].persistentVolumeClaim.claimName: Required value"],
        id="a claim",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "rbd": {}}]},
        ["spec.volumes[0].rbd.monitors: Required value", "spec.volumes[0].rbd.image: Required value"],
        id="RBD",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "cinder": {"secretRef": {}}}]},
        ["spec.volumes[0].cinder.volumeID: Required value", "spec.volumes[0].cinder.secretRef.name: Required value"],
        id="Cinder",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "cephfs": {}}]},
        ["spec.volumes[0].cephfs.monitors: Required value"],
        id="CephFS",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "quobyte": {}}]},
        [
            "spec.volumes[0].quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas",
            "spec.volumes[0].quobyte.volume: Required value",
        ],
        id="Quobyte without registry",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "quobyte": {"registry": "a:1,b", "volume": "v"}}]},
        [
            'spec.volumes[0].quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas'
        ],
        id="Quobyte with half of one",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [{"name": "v", "quobyte": {"registry": "a:1", "volume": "v", "tenant": "t" * 65}}],
        },
        ["spec.volumes[0].quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters"],
        id="Quobyte with a long tenant",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "downwardAPI": {
                        "items": [
                            {"path": ""},
                            {
                                "path": "a",
                                "fieldRef": {"fieldPath": "spec.nodeName"},
                                "resourceFieldRef": {"resource": "limits.cpu"},
                            },
                            {"path": "b", "resourceFieldRef": {"resource": "limits.cpu"}, "mode": 512},
                        ]
                    },
                }
            ],
        },
        [
            "spec.volumes[0].downwardAPI.path: Required value",
            "spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
            'spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
            'spec.volumes[0].downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
            "spec.volumes[0].downwardAPI.resourceFieldRef.containerName: Required value",
            "spec.volumes[0].downwardAPI.mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
        ],
        id="fields as files",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "fc": {}}]},
        ["spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"],
        id="Fibre Channel without target",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "fc": {"targetWWNs": ["a"], "wwids": ["b"]}}]},
        [
            'spec.volumes[0].fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
            "spec.volumes[0].fc.lun: Required value: lun is required if targetWWNs is specified",
        ],
        id="Fibre Channel with two",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "fc": {"targetWWNs": ["a"], "lun": 256}}]},
        ["spec.volumes[0].fc.lun: Invalid value: 256: must be between 0 and 255, inclusive"],
        id="Fibre Channel out of range",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [{"name": "v", "flexVolume": {"driver": "", "options": {"x.kubernetes.io/a": "b"}}}],
        },
        [
            "spec.volumes[0].flexVolume.driver: Required value",
            'spec.volumes[0].flexVolume.options[x.kubernetes.io/a]: Invalid value: "x.kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved',
        ],
        id="Flex",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "azureFile": {}}]},
        ["spec.volumes[0].azureFile.secretName: Required value", "spec.volumes[0].azureFile.shareName: Required value"],
        id="a file share of Azure",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {"name": "v", "azureDisk": {"diskName": "", "diskURI": "", "cachingMode": "Some", "kind": "Managed"}}
            ],
        },
        [
            "spec.volumes[0].azureDisk.diskName: Required value",
            "spec.volumes[0].azureDisk.diskURI: Required value",
            'spec.volumes[0].azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"',
            'spec.volumes[0].azureDisk.diskURI: Unsupported value: "": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
        ],
        id="a disk of Azure",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [{"name": "v", "azureDisk": {"diskName": "d", "diskURI": "/x", "kind": "Big"}}],
        },
        [
            'spec.volumes[0].azureDisk.kind: Unsupported value: "Big": supported values: "Dedicated", "Managed", "Shared"',
            'spec.volumes[0].azureDisk.diskURI: Unsupported value: "/x": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
        ],
        id="a blob of Azure",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "vsphereVolume": {}}]},
        ["spec.volumes[0].vsphereVolume.volumePath: Required value"],
        id="vSphere",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "photonPersistentDisk": {}}]},
        ["spec.volumes[0].photonPersistentDisk.pdID: Required value"],
        id="Photon",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "portworxVolume": {}}]},
        ["spec.volumes[0].portworxVolume.volumeID: Required value"],
        id="Portworx",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "scaleIO": {}}]},
        [
            "spec.volumes[0].scaleIO.gateway: Required value",
            "spec.volumes[0].scaleIO.system: Required value",
            "spec.volumes[0].scaleIO.volumeName: Required value",
        ],
        id="ScaleIO",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "storageos": {"secretRef": {}}}]},
        [
            "spec.volumes[0].storageos.volumeName: Required value",
            "spec.volumes[0].storageos.secretRef.name: Required value",
        ],
        id="StorageOS",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [{"name": "v", "storageos": {"volumeName": "A", "volumeNamespace": "B"}}],
        },
        [
            f'spec.volumes[0].storageos.volumeName: Invalid value: "A": {LABEL}',
            f'spec.volumes[0].storageos.volumeNamespace: Invalid value: "B": {LABEL}',
        ],
        id="StorageOS names",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "csi": {"driver": "", "nodePublishSecretRef": {}}}]},
        ["spec.volumes[0].csi.driver: Required value", "spec.volumes[0].csi.nodePublishSecretRef.name: Required value"],
        id="CSI",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [{"name": "v", "csi": {"driver": "x" * 64, "nodePublishSecretRef": {"name": "A"}}}],
        },
        [
            "spec.volumes[0].csi.driver: Too long: may not be more than 63 bytes",
            f'spec.volumes[0].csi.name: Invalid value: "A": {SUBDOMAIN}',
        ],
        id="CSI names",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "image": {"pullPolicy": "Maybe"}}]},
        [
            "spec.volumes[0].image.reference: Required value",
            'spec.volumes[0].image.pullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"',
        ],
        id="an image volume",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "projected": {
                        "sources": [
                            {"secret": {"name": "s", "items": [{"key": "k", "path": "p"}]}},
                            {"configMap": {"items": [{"key": "k", "path": "p"}]}},
                            {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                        ]
                    },
                }
            ],
            "serviceAccountName": "sa",
        },
        [
            "spec.volumes[0].projected.sources[1].configMap.name: Required value",
            'spec.volumes[0].projected: Invalid value: "": conflicting duplicate paths',
            'spec.volumes[0].projected: Invalid value: "p": conflicting duplicate paths',
        ],
        id="projected paths collide",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "projected": {
                        "sources": [{"secret": {"name": "s"}, "configMap": {"name": "c"}}],
                        "defaultMode": -1,
                    },
                }
            ],
            "serviceAccountName": "sa",
        },
        [
            "spec.volumes[0].projected.defaultMode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
            "spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source",
        ],
        id="projected sources stand alone",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "projected": {
                        "sources": [
                            {"serviceAccountToken": {"path": "", "expirationSeconds": 10}},
                            {"serviceAccountToken": {"path": "../t", "expirationSeconds": 4294967297}},
                        ]
                    },
                }
            ],
            "serviceAccountName": "sa",
        },
        [
            "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes",
            "spec.volumes[0].projected.path: Required value",
            "spec.volumes[0].projected.sources[1].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
            "spec.volumes[0].projected.path: Invalid value: \"../t\": must not contain '..'",
        ],
        id="a token lives ten minutes at least",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}],
        },
        [
            "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set"
        ],
        id="a token needs an account",
    ),
    pytest.param(
        {"containers": [CONTAINER], "volumes": [{"name": "v", "ephemeral": {}}]},
        ["spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"],
        id="a claim template is required",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "metadata": {"name": "x", "labels": {"-": "a"}, "finalizers": ["a/b"]},
                            "spec": {},
                        }
                    },
                }
            ],
        },
        [
            f'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "-": name part {KEY}',
            "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.finalizers: Forbidden: cannot be set",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
        ],
        id="a claim template needs modes and size",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOncePod", "ReadWriteOnce", "Write"],
                                "resources": {"requests": {"storage": "1Gi"}},
                                "volumeMode": "Tape",
                                "storageClassName": "A",
                                "volumeAttributesClassName": "B",
                            }
                        }
                    },
                }
            ],
        },
        [
            'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Unsupported value: "Write": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
            f'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.storageClassName: Invalid value: "A": {SUBDOMAIN}',
            'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
            f'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName: Invalid value: "B": {SUBDOMAIN}',
        ],
        id="claim modes",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "0"}}}
                        }
                    },
                }
            ],
        },
        [
            'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "0": must be greater than zero'
        ],
        id="a claim of nothing",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}},
                                "dataSource": {"kind": "Snap", "name": ""},
                                "dataSourceRef": {"apiGroup": "A", "kind": "", "name": "x", "namespace": "N"},
                                "selector": {"matchLabels": {"a": "-"}},
                            }
                        }
                    },
                }
            ],
        },
        [
            f'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.selector.matchLabels: Invalid value: "-": {VALUE}',
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource.name: Required value",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource: Invalid value: \"Snap\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.kind: Required value",
            f'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.apiGroup: Invalid value: "A": {SUBDOMAIN}',
            f'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace: Invalid value: "N": {LABEL}',
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified",
        ],
        id="sources of a claim",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}},
                                "dataSource": {"kind": "PersistentVolumeClaim", "name": "a"},
                                "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b"},
                            }
                        }
                    },
                }
            ],
        },
        ["spec.volumes[0].ephemeral.volumeClaimTemplate.spec: Invalid value: {}: must match dataSourceRef"],
        id="sources that differ",
    ),
    pytest.param(
        {
            "containers": [CONTAINER],
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
                        }
                    },
                },
                {"name": "w", "persistentVolumeClaim": {"claimName": "p-v"}},
            ],
        },
        [
            'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-v": must not reference a PVC that gets created for an ephemeral volume'
        ],
        id="a claim that an ephemeral volume makes",
    ),
]


@pytest.mark.parametrize(("spec", "lines"), CASES)
def test_says_what_the_api_server_says(spec: dict[str, Any], lines: list[str]) -> None:
    metadata = {"name": "p", "namespace": "default", "labels": {"app": "web"}}
    pod = {"metadata": metadata, "spec": spec}
    assert answer_validate({"id": 0, "pod": pod}).get("invalid", []) == lines
