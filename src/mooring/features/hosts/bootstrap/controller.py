"""BootstrapKubeconfigs: one bootstrap token each, minted once, and a Secret with the kubeconfig that holds it.

The id of the token follows from the uid of the object, so that a repeated decision finds the token and mints no second
one. A token lives for half an hour, and no longer than until its Machine has a Node.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from typing import Final

from mooring.api.core.bootstrap_tokens import NAMESPACE, PREFIX, TYPE, BootstrapToken
from mooring.api.kinds import Key
from mooring.features.hosts.api import conditions as told
from mooring.features.hosts.api.bootstrap import BootstrapKubeconfig, BootstrapKubeconfigSpec
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG
from mooring.features.hosts.api.names import (
    BOOTSTRAP_FORMAT,
    BOOTSTRAP_GROUP,
    BOOTSTRAP_VALUE,
    CLONED_FROM_NAME,
    CLUSTER_NAME,
    SECRET_TYPE,
)
from mooring.features.hosts.bootstrap.kubeconfig import (
    CLUSTER_INFO,
    CONFIG_MAP_BY_NAME,
    ServerAddress,
    address_in,
    kubeconfig_text,
)
from mooring.features.hosts.settings import HostSettings
from mooring.features.hosts.statuses import holds, status_patch, waiting
from mooring.features.machines.api.kinds import CLUSTER, MACHINE
from mooring.features.machines.api.machines import Machine
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete
from mooring.runtime.minted import Minted
from mooring.runtime.reads import named
from mooring.runtime.view import View
from mooring.workloads.kinds import SECRET
from mooring.workloads.ownerrefs import controller_reference, is_controlled_by

_SECRET: Final = named(SECRET)
# Sixteen characters, as bootstrap tokens have.
_TOKEN_BYTES: Final = 8


def bootstrap_controller(settings: HostSettings) -> Controller:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        config = view.get(BOOTSTRAP_KUBECONFIG, *key)
        if config is None or config.metadata.deleting:
            return Decision()
        machine = _machine(view, config)
        token_id = config.status.token_id or token_id_of(config)
        token_key = Key(NAMESPACE, PREFIX + token_id)
        # 1. The Machine has joined: its token has done its work.
        if machine is not None and machine.status.node_ref.name:
            used = view.get(_SECRET, *token_key) if _is_written(config) else None
            done = holds(told.READY, told.TOKEN_USED, f"Node {machine.status.node_ref.name} has joined with it")
            return Decision(
                children=() if used is None or used.metadata.deleting else (Delete(_SECRET, token_key),),
                status=status_patch(BOOTSTRAP_KUBECONFIG, config, config.status, (done,), now),
            )
        # 2. Where the API server is.
        address = _address(view, config, machine)
        if address is None:
            message = (
                f"spec.apiserver of BootstrapKubeconfig {key.name} is empty, and neither what it is a copy of nor "
                "ConfigMap kube-public/cluster-info says where the API server is"
            )
            return _stop(config, now, told.APISERVER_UNKNOWN, message)
        # 3. Its token counts.
        if _is_written(config):
            return _watch_expiry(config, view, now)
        token = view.get(_SECRET, *token_key)
        if token is None:
            return Decision(children=(Create(_SECRET, _token_secret(config, token_id, now, settings)),))
        found = BootstrapToken.of(token.metadata.name, token.type, token.data)
        if found is None or found.expires is None:
            message = f"Secret {token_key} is not a bootstrap token of ours; delete it, so that one is minted"
            return _stop(config, now, told.TOKEN_EXPIRED, message)
        # 4. The Secret that hosts read has it.
        written = view.get(_SECRET, *key)
        if written is not None and not is_controlled_by(written, config):
            message = f"Secret {key.name} belongs to another; delete it, so that the kubeconfig can be written"
            return _stop(config, now, told.TOKEN_EXPIRED, message)
        if written is None:
            made = _data_secret(config, kubeconfig_text(address, f"{found.id}.{found.secret}"))
            return Decision(children=(Create(_SECRET, made),))
        fields: Object = {
            "dataSecretName": key.name,
            "initialization": {"dataSecretCreated": True},
            "tokenID": token_id,
            "expirationTime": timestamp(found.expires),
        }
        minted = holds(told.READY, told.TOKEN_MINTED)
        return Decision(status=status_patch(BOOTSTRAP_KUBECONFIG, config, config.status, (minted,), now, fields))

    return Controller(
        "bootstrapkubeconfig",
        reconcile,
        of=BOOTSTRAP_KUBECONFIG,
        reads=(MACHINE, CLUSTER, _SECRET, CONFIG_MAP_BY_NAME),
        writes={BOOTSTRAP_KUBECONFIG: ("status", "finalizers"), _SECRET: ("create", "delete")},
    )


def token_id_of(config: BootstrapKubeconfig) -> str:
    """The public half of the token: six characters that follow from the object."""
    return hashlib.sha256(f"bootstrap token of {config.metadata.uid}".encode()).hexdigest()[:6]


def _is_written(config: BootstrapKubeconfig) -> bool:
    return config.status.initialization.data_secret_created


def _watch_expiry(config: BootstrapKubeconfig, view: View, now: datetime) -> Decision:
    expires = config.status.expiration_time
    if expires is None or moment(expires) > now:
        if expires is not None:
            # Expiring changes nothing that a plan waits for.
            view.poll_again(moment(expires))
        return Decision(
            status=status_patch(
                BOOTSTRAP_KUBECONFIG, config, config.status, (holds(told.READY, told.TOKEN_MINTED),), now
            )
        )
    owner = next(iter(config.metadata.owner_references), None)
    which = f"{owner.kind} {owner.name}" if owner is not None else f"BootstrapKubeconfig {config.metadata.name}"
    message = f"the token expired at {expires} before it was used; delete {which}, so that a new one is minted"
    return _stop(config, now, told.TOKEN_EXPIRED, message)


def _machine(view: View, config: BootstrapKubeconfig) -> Machine | None:
    for ref in config.metadata.owner_references:
        if ref.kind == MACHINE.kind:
            found = view.get(MACHINE, config.metadata.namespace, ref.name)
            return found if found is not None and found.metadata.uid == ref.uid else None
    return None


def _address(view: View, config: BootstrapKubeconfig, machine: Machine | None) -> ServerAddress | None:
    """Of the object itself, of what it is a copy of, of its Cluster, of the cluster that this is."""
    if config.spec.apiserver:
        return _of_spec(config.spec)
    source = config.metadata.annotations.get(CLONED_FROM_NAME, "")
    original = view.get(BOOTSTRAP_KUBECONFIG, config.metadata.namespace, source) if source else None
    if original is not None and original.spec.apiserver:
        return _of_spec(original.spec)
    info = view.get(CONFIG_MAP_BY_NAME, *CLUSTER_INFO)
    found = None if info is None else address_in(info.data.get("kubeconfig", ""))
    cluster = None if machine is None else view.get(CLUSTER, config.metadata.namespace, machine.spec.cluster_name)
    if cluster is not None and cluster.spec.control_plane_endpoint.host:
        endpoint = cluster.spec.control_plane_endpoint
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        return ServerAddress(f"https://{host}:{endpoint.port}", "" if found is None else found.authority)
    return found


def _of_spec(spec: BootstrapKubeconfigSpec) -> ServerAddress:
    return ServerAddress(spec.apiserver, spec.certificate_authority_data, spec.insecure_skip_tls_verify)


def _token_secret(config: BootstrapKubeconfig, token_id: str, now: datetime, settings: HostSettings) -> Object:
    whose = f"{config.metadata.namespace}/{config.metadata.name}"
    return {
        "metadata": {"namespace": NAMESPACE, "name": PREFIX + token_id},
        "type": TYPE,
        "stringData": {
            "description": f"Lets the host of BootstrapKubeconfig {whose} join.",
            "token-id": token_id,
            "token-secret": Minted(_TOKEN_BYTES),
            "expiration": timestamp(now + settings.token_lifetime),
            "usage-bootstrap-authentication": "true",
            "usage-bootstrap-signing": "true",
            "auth-extra-groups": BOOTSTRAP_GROUP,
        },
    }


def _data_secret(config: BootstrapKubeconfig, text: str) -> Object:
    metadata: Object = {
        "namespace": config.metadata.namespace,
        "name": config.metadata.name,
        "ownerReferences": [controller_reference(BOOTSTRAP_KUBECONFIG, config)],
    }
    if cluster := config.metadata.labels.get(CLUSTER_NAME):
        metadata["labels"] = {CLUSTER_NAME: cluster}
    data = {BOOTSTRAP_VALUE: text, BOOTSTRAP_FORMAT: "kubeconfig"}
    encoded = {name: base64.b64encode(value.encode()).decode() for name, value in data.items()}
    return {"metadata": metadata, "type": SECRET_TYPE, "data": encoded}


def _stop(config: BootstrapKubeconfig, now: datetime, reason: str, message: str) -> Decision:
    condition = waiting(told.READY, reason, message, "Warning")
    return Decision(status=status_patch(BOOTSTRAP_KUBECONFIG, config, config.status, (condition,), now))
