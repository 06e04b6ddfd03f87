"""What a pod gets from its ServiceAccount: leave to be there, secrets for its images, and a token to use the API with.

The token comes as a projected volume, `kube-api-access-` and five characters, with the cluster's authority and the
pod's namespace beside it, in every container that mounts nothing else in its place.
"""

from typing import Final

from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["ROOT_AUTHORITY", "require_account"]

# The ConfigMap with the authority that vouches for the API, in every namespace.
ROOT_AUTHORITY: Final = "kube-root-ca.crt"

_MIRROR: Final = "kubernetes.io/config.mirror"
_MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_VOLUME_PREFIX: Final = "kube-api-access-"
_SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH: Final = 5
# An hour, and seven seconds by which the server knows that nobody chose it.
_TOKEN_SECONDS: Final = 3607
# Shared by all pods, as everything that is stored may be.
_SOURCE: Final[Object] = {
    "defaultMode": 0o644,
    "sources": [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": ROOT_AUTHORITY}},
        {
            "downwardAPI": {
                "items": [{"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}]
            }
        },
    ],
}


def require_account(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Admit a pod only if its ServiceAccount exists, and add what that account brings."""
    pod = request.object
    if pod is None or request.resource.store != "pods" or request.operation != "CREATE" or request.subresource:
        return None
    name = pod["spec"].get("serviceAccountName")
    if not name or _MIRROR in pod["metadata"].get("annotations", {}):
        return None
    account = view.find("v1", "ServiceAccount", request.namespace, name)
    if account is None:
        why = f"error looking up service account {request.namespace}/{name}: serviceaccount {go_quote(name)} not found"
        raise ForbiddenError.of("pods", "", request.name, why)
    added = _token_volume(pod, account) if _wants_token(pod, account) else {}
    secrets = account.get("imagePullSecrets")
    if secrets and not pod["spec"].get("imagePullSecrets"):
        added["imagePullSecrets"] = secrets
    return {**pod, "spec": {**pod["spec"], **added}} if added else None


def _wants_token(pod: Object, account: Object) -> bool:
    """The pod has the first word, its account the second."""
    for chosen in (pod["spec"].get("automountServiceAccountToken"), account.get("automountServiceAccountToken")):
        if chosen is not None:
            return bool(chosen)
    return True


def _token_volume(pod: Object, account: Object) -> Object:
    """The parts of the spec that change: mounts in containers, and the volume if there is none of that name yet."""
    spec = pod["spec"]
    volumes = spec.get("volumes") or []
    known = next((volume["name"] for volume in volumes if volume["name"].startswith(_VOLUME_PREFIX)), None)
    name = known or _VOLUME_PREFIX + _suffix(account["metadata"]["uid"])
    mount = {"mountPath": _MOUNT_PATH, "name": name, "readOnly": True}
    changed: Object = {}
    for part in ("initContainers", "containers"):
        containers = spec.get(part) or []
        if any(not _mounts_there(container) for container in containers):
            changed[part] = [
                container
                if _mounts_there(container)
                else {**container, "volumeMounts": [*(container.get("volumeMounts") or ()), mount]}
                for container in containers
            ]
    if changed and known is None:
        changed["volumes"] = [*volumes, {"name": name, "projected": _SOURCE}]
    return changed


def _mounts_there(container: Object) -> bool:
    return any(mount.get("mountPath") == _MOUNT_PATH for mount in container.get("volumeMounts") or ())


def _suffix(uid: str) -> str:
    """Letters that follow from the account's uid: its pods share what they have of this, in memory and in caches."""
    number = int(uid.replace("-", "")[-12:], 16)
    found = ""
    for _ in range(_SUFFIX_LENGTH):
        number, index = divmod(number, len(_SUFFIX_LETTERS))
        found += _SUFFIX_LETTERS[index]
    return found
