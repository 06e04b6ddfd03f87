"""What is refused of hosts and bootstrap objects: deleting a host in use, and addresses that nothing answers at."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from mooring.features.hosts.access.admission import check_agent
from mooring.features.hosts.api.bootstrap import BootstrapKubeconfig
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_HOST, BYO_MACHINE
from mooring.features.hosts.api.names import API_VERSION
from mooring.kube.errors import FieldError, invalid
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest

_PEM: Final = b"-----BEGIN CERTIFICATE-----"


def check_deletion(request: WebhookRequest, view: View) -> Admitted | Denied:
    """A host in use stays, unless its ByoMachine is gone: then nobody would ever release it."""
    host = request.old_typed(BYO_HOST)
    ref = None if host is None else host.status.machine_ref
    if ref is None:
        return Admitted()
    machine = view.get(BYO_MACHINE, ref.namespace or request.namespace, ref.name)
    if machine is None or machine.metadata.uid != ref.uid:
        return Admitted()
    return Denied(
        f"ByoHost {request.name} cannot be deleted while it is assigned to ByoMachine {ref.name}; delete its Machine "
        "first, which releases the host"
    )


def check_bootstrap(request: WebhookRequest, view: View) -> Admitted | Denied:
    config = request.typed(BOOTSTRAP_KUBECONFIG)
    if config is None or config.metadata.deleting:
        return Admitted()
    errors = tuple(bootstrap_errors(config))
    return Denied(errors=errors) if errors else Admitted()


def bootstrap_errors(config: BootstrapKubeconfig) -> Iterator[FieldError]:
    """Empty fields are filled in from the Cluster or from cluster-info; what is there must be of use."""
    server, authority = config.spec.apiserver, config.spec.certificate_authority_data
    if server:
        try:
            parts = urlsplit(server)
            whole = parts.scheme == "https" and bool(parts.hostname) and parts.port is not None
        except ValueError:
            whole = False
        if not whole:
            yield invalid("spec.apiserver", server, "must be https://HOST:PORT")
    if authority:
        try:
            decoded = base64.b64decode(authority, validate=True)
        except (binascii.Error, ValueError):
            yield invalid("spec.certificate-authority-data", "(hidden)", "must be base64")
            return
        if _PEM not in decoded:
            yield invalid("spec.certificate-authority-data", "(hidden)", "must be a certificate as PEM, in base64")


WEBHOOKS: Final = (
    Webhook(
        "validation.byohost.mooring.dev",
        "validating",
        check_deletion,
        (Rule(API_VERSION, "byohosts", ("DELETE",)),),
        reads=(BYO_MACHINE,),
        switch="byohost-webhook",
    ),
    Webhook(
        "agents.byohost.mooring.dev",
        "validating",
        check_agent,
        (
            Rule(API_VERSION, "byohosts", ("CREATE", "UPDATE", "DELETE")),
            Rule(API_VERSION, "byohosts/status", ("UPDATE",)),
        ),
        switch="byohost-webhook",
    ),
    Webhook(
        "validation.bootstrapkubeconfig.mooring.dev",
        "validating",
        check_bootstrap,
        (Rule(API_VERSION, "bootstrapkubeconfigs", ("CREATE", "UPDATE")),),
        switch="bootstrapkubeconfig-webhook",
    ),
)
