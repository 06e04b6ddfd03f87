"""What is put into a field: words, numbers and objects at the edges of what is allowed, by the field's schema and name."""

from __future__ import annotations

from typing import Any

from mooring.kube.schemas import Schema

_NUMBERS = (
    0, -1, 1, 2, 3, 5, 10, 20, 63, 64, 100, 101, 255, 256, 300, 511, 512, 600, 999, 1000, 3600, 3601, 10000, 32767, 65535, 65536,
    86400, 86401, 100000, 100001, 10000000, 10000001, 1000000000, 1000000001, 2**31 - 2, 2**31 - 1,
)  # fmt: skip
_HUGE = (2**31, -(2**31) - 1, 2**32, 2**63)
_TEXTS = (
    "", "x", "A_b", "-a", "a-", "a.b", "a/b", "a b", "example.com/a", "/a", "1", "0",
    "*", "*.example.com", "10.0.0.1", "010.0.0.1", "fd00::1", "10.0.0.0/8", "10.0.0.1/8", "é", "a\nb", "A", "a..b", "$(A)", "%", "..", "a/../b", "a:b", "true",
)  # fmt: skip
LENGTHS = (1, 8, 15, 16, 32, 33, 52, 53, 63, 64, 128, 129, 253, 254, 256, 257, 512, 513, 1024, 1025, 2048, 2049)
_LONG = ("a." * 127 + "a", "a/" + "b" * 63, "a/" + "b" * 64)
_QUANTITIES = ("0", "-1", "1", "1m", "1n", "100m", "1500m", "1Gi", "20Gi", "4Mi", "3Mi", "1.5", "1e3", "", "x", "1 Gi", 5, 1.5, "9223372036854775807", "100E", "0.1")
_TIMES = ("2026-01-01T00:00:00Z", "2026-01-01T12:00:00.123456Z", "2026-01-01T02:00:00+02:00", "2025-06-01T00:00:00Z", "2026-02-30T00:00:00Z", "yesterday", "")
_BYTES = ("", "YQ==", "!", "e30=", "eyJhdXRocyI6e319")
_SHARES = (0, 1, -1, 2, 101, "0%", "1%", "100%", "101%", "-1%", "50", "5.5%", "x", "", 65535, 65536, "http")
_RAW = ({}, {"a": 1}, {"apiVersion": "v1", "kind": "A"}, [1], "text")
_ANY = ({}, [], "x", 1, None, True)
_KEYS = ("a", "A_b", "-a", "example.com/a", "a/b/c", "/a", "a" * 63, "a" * 64, "", "a b", "kubernetes.io/a", "cpu", "memory", "storage", "pods", "example.com/gpu", "hugepages-2Mi", "ephemeral-storage", "UPPER.example.com/a", "requests.cpu", "count/pods")
# What is said in fields of these names, anywhere; beside the right words some that are right elsewhere.
_WORDS: dict[str, str] = {
    "type": "Opaque Container Pod PersistentVolumeClaim Resource Pods Object External Utilization Value AverageValue Percent RollingUpdate OnDelete Recreate ClusterIP NodePort LoadBalancer ExternalName Localhost RuntimeDefault Unconfined Directory File Socket Normal Warning Limited Exempt Queue Reject ByUser ByNamespace Ready integer string object array bootstrap.kubernetes.io/token kubernetes.io/basic-auth kubernetes.io/ssh-auth kubernetes.io/service-account-token kubernetes.io/dockercfg kubernetes.io/tls",
    "operator": "In NotIn Exists DoesNotExist Gt Lt Equal in",
    "effect": "NoSchedule PreferNoSchedule NoExecute None",
    "restartPolicy": "Always OnFailure Never NotRequired RestartContainer always",
    "imagePullPolicy": "Always IfNotPresent Never Sometimes", "pullPolicy": "Always IfNotPresent Never Sometimes",
    "protocol": "TCP UDP SCTP tcp HTTP", "scheme": "HTTP HTTPS https FTP",
    "dnsPolicy": "ClusterFirst ClusterFirstWithHostNet Default None none",
    "preemptionPolicy": "Never PreemptLowerPriority Always",
    "terminationMessagePolicy": "File FallbackToLogsOnError file", "mountPropagation": "None HostToContainer Bidirectional none",
    "recursiveReadOnly": "Disabled IfPossible Enabled enabled", "procMount": "Default Unmasked Masked",
    "whenUnsatisfiable": "DoNotSchedule ScheduleAnyway Never", "nodeAffinityPolicy": "Honor Ignore None", "nodeTaintsPolicy": "Honor Ignore None",
    "fsGroupChangePolicy": "Always OnRootMismatch Never", "supplementalGroupsPolicy": "Merge Strict None", "seLinuxChangePolicy": "MountOption Recursive None",
    "medium": "Memory HugePages HugePages-2Mi Disk", "phase": "Pending Running Succeeded Failed Active Terminating Bound Available Released Lost Unknown x",
    "status": "True False Unknown Maybe", "reason": "R a_b A:B x- Invalid Forbidden Unauthorized RequestEntityTooLarge FieldValueInvalid",
    "concurrencyPolicy": "Allow Forbid Replace None", "completionMode": "NonIndexed Indexed None", "podReplacementPolicy": "TerminatingOrFailed Failed None",
    "action": "FailJob FailIndex Ignore Count Restart None", "podManagementPolicy": "OrderedReady Parallel None", "whenDeleted": "Retain Delete None", "whenScaled": "Retain Delete None",
    "selectPolicy": "Max Min Disabled None", "unhealthyPodEvictionPolicy": "IfHealthyBudget AlwaysAllow Never",
    "sessionAffinity": "None ClientIP Cookie", "externalTrafficPolicy": "Cluster Local None", "internalTrafficPolicy": "Cluster Local None", "ipFamilyPolicy": "SingleStack PreferDualStack RequireDualStack None",
    "trafficDistribution": "PreferClose PreferSameZone PreferSameNode Far", "ipMode": "VIP Proxy None", "pathType": "Exact Prefix ImplementationSpecific Regex",
    "path": "/ /a a /a/../b a/b .. /a//b /a/%2f /a/", "scope": "Namespace Cluster Namespaced * None",
    "accessModes": "ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod ReadNever", "volumeMode": "Filesystem Block File",
    "persistentVolumeReclaimPolicy": "Retain Delete Recycle Keep", "reclaimPolicy": "Retain Delete Recycle Keep", "volumeBindingMode": "Immediate WaitForFirstConsumer Later",
    "fsGroupPolicy": "ReadWriteOnceWithFSType File None Never", "volumeLifecycleModes": "Persistent Ephemeral None", "addressType": "IPv4 IPv6 FQDN ip",
    "failurePolicy": "Fail Ignore None", "matchPolicy": "Exact Equivalent None", "sideEffects": "None NoneOnDryRun Some Unknown None", "reinvocationPolicy": "Never IfNeeded Always",
    "operations": "CREATE UPDATE DELETE CONNECT * READ", "validationActions": "Deny Warn Audit None", "parameterNotFoundAction": "Allow Deny None", "allocationMode": "ExactCount All Some",
    "usages": "signing client~auth server~auth any digital~signature key~encipherment nothing", "signerName": "kubernetes.io/kube-apiserver-client kubernetes.io/legacy-unknown example.com/s s kubernetes.io/kubelet-serving",
    "policyTypes": "Ingress Egress None", "cidr": "10.0.0.0/8 10.0.0.1/8 fd00::/8 10.0.0.0 10.0.0.0/33 010.0.0.0/8", "except": "10.2.0.0/16 11.0.0.0/8 10.0.0.0/8 x",
    "schedule": "* @daily 0~0~*~*~* 61~*~*~*~* TZ=UTC~0~0~*~*~* 0~0~31~2~* */0~*~*~*~* @every~1h", "timeZone": "UTC Local Europe/Nowhere Asia/Tokyo",
    "fieldPath": "metadata.name metadata.uid spec.nodeName status.podIP metadata.labels['a'] metadata.labels metadata.x .size .x", "resource": "limits.cpu requests.memory limits.ephemeral-storage requests.hugepages-2Mi limits.x pods jobs/status *",
    "divisor": "1 1m 1k 1Mi 1Gi 2", "image": "a: a a:b~c", "name": "default metadata.name windows linux cpu memory x.y x/y a:b system:a",
    "kind": "Pod User Group ServiceAccount ClusterRole Role Thing VolumeSnapshot PersistentVolumeClaim Deployment", "apiGroup": "rbac.authorization.k8s.io snapshot.storage.k8s.io apps x_y",
    "apiVersion": "v1 apps/v1 a/b/c v2 batch/v1", "scopeName": "Terminating NotTerminating BestEffort NotBestEffort PriorityClass CrossNamespacePodAffinity VolumeAttributesClass", "scopes": "Terminating NotTerminating BestEffort NotBestEffort PriorityClass None",
    "priorityClassName": "drawn-high system-node-critical system-cluster-critical none", "runtimeClassName": "drawn-sandbox none A_b", "serviceAccountName": "default none A_b", "storageClassName": "drawn-fast none A_b",
    "volumeAttributesClassName": "drawn-attributes none A_b", "topologyKey": "zone kubernetes.io/hostname a/b/c", "finalizers": "kubernetes example.com/x x orphan foregroundDeletion a/b/c",
    "expression": "true 1 object.x object.spec.size~>~1 device.driver~==~'x' self.a a~+ params.a request.x", "rule": "true self.size~>~1 self.nothing self.size~+", "jsonPath": ".spec.x spec $.a .metadata.name",
    "valueExpression": "'a' 1 object.x", "messageExpression": "'a' 1 self.x", "url": "https://a.example.com http://a https://a?b https://u@a https://a#b ::",
    "completedIndexes": "0-1 1,0 0,9 a 0-0 2-1", "failedIndexes": "0-1 1 0,9 a", "succeededIndexes": "0-1 1,0 0,9 a 0-9", "resourceName": "cpu memory storage cpux", "capabilities": "ALL", "add": "ALL SYS_ADMIN CHOWN NET_BIND_SERVICE AUDIT_WRITE", "drop": "ALL NET_RAW",
    "value": "1 yes 1Gi", "strategy": "None Webhook", "format": "int32 int64 date-time byte uuid", "x-kubernetes-list-type": "set atomic map x", "source": "FromClaim FromClass x", "storageMode": "ThinProvisioned ThickProvisioned None", "cachingMode": "None ReadOnly ReadWrite x",
    "verbs": "get * list GET", "verb": "get", "nonResourceURLs": "/a a * /a/* /*/a", "apiGroups": "apps * A_b", "apiVersions": "v1 * v_1", "resources": "pods pods/status * */* pods/* */status a/b/c", "sysctls": "a", "driver": "gpu.example.com A.example.com a/b", "poolName": "n", "hostname": "a a.b A",
    "pod-security.kubernetes.io/enforce": "privileged baseline restricted x", "pod-security.kubernetes.io/enforce-version": "latest v1.25 v1.99 1.2 x", "iqn": "iqn.2001-04.com.example:a eui.0123456789abcdef naa.0123456789abcdef x",
    "schedulerName": "default-scheduler A_b", "localhostProfile": "a /a ../a", "level": "s0", "macAddress": "a", "appProtocol": "http example.com/x kubernetes.io/h2c A_b x/y/z", "loadBalancerClass": "a example.com/x internal", "externalName": "a.example.com a.example.com. A_b 10.0.0.1", "host": "a.example.com *.example.com * A_b 10.0.0.1", "hosts": "a.example.com * A_b 10.0.0.1",
}  # fmt: skip


def for_field(name: str, schema: Schema, old: Any) -> list[Any]:
    """Everything that is tried in one field that holds no fields itself."""
    found = list(_of_type(name, schema))
    if isinstance(old, int) and not isinstance(old, bool):
        found += [old + 1, old - 1]
    if isinstance(old, str) and schema.type == "string" and schema.format == "":
        found += [old + "x", old.upper(), old + "/", "." + old]
    # Of other types.
    found += [None, {} if schema.type != "object" else "x", [] if schema.type != "array" else 1, "x" if schema.type in ("integer", "boolean") else 7]
    return [each for each in found if each != old or type(each) is not type(old)]


def words(name: str) -> list[str]:
    return [word.replace("~", " ") for word in _WORDS.get(name, "").split()]


def _of_type(name: str, schema: Schema) -> list[Any]:
    if schema.int_or_string:
        return list(_SHARES)
    if schema.format == "quantity":
        return list(_QUANTITIES)
    if schema.format == "date-time":
        return list(_TIMES)
    if schema.format == "byte":
        return list(_BYTES)
    if schema.type == "boolean":
        return [True, False]
    if schema.type == "integer":
        return [0, 1, -1, 5, 2**31]
    if schema.type == "number":
        return [0, 1.5, -1]
    if schema.type == "string":
        return [*words(name) * 3, *_TEXTS, *_LONG]
    return list(_RAW if schema.name == "runtime.RawExtension" else _ANY)


def good_guess(name: str, schema: Schema, depth: int = 0) -> Any:
    """Something that may well be right in a field that was not there."""
    if schema.properties and depth < 4:
        wanted = [key for key in schema.properties if key in schema.required or (depth < 1 and len(schema.properties) < 4)]
        return {key: good_guess(key, schema.properties[key], depth + 1) for key in wanted}
    if schema.type == "array":
        return [good_guess(name, schema.items, depth + 1)] if schema.items is not None else []
    if schema.additional_properties is not None:
        return {"a": good_guess("", schema.additional_properties, depth + 1)}
    found = [each for each in _of_type(name, schema) if each not in ("", 0, False, None)]
    return found[0] if found else {}


def keys() -> list[str]:
    return list(_KEYS)


def numbers() -> list[int]:
    return [*_NUMBERS, *_HUGE]
