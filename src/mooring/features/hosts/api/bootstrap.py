"""BootstrapKubeconfig: how a host finds the API server, and the token with which it asks for its certificate."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers, Quantity, Time
from mooring.api.meta import AnnotatedMeta
from mooring.features.hosts.api.conditions import Conditions


class BootstrapKubeconfigSpec(View, frozen=True):
    """How the API server is reached."""

    apiserver: Annotated[
        str, Markers("https://HOST:PORT. A copy that is made for a Machine takes it from what it is a copy of.")
    ] = ""
    insecure_skip_tls_verify: Annotated[
        bool, Markers("Whether the certificate of the API server is taken as it comes.", defaulted=True)
    ] = msgspec.field(default=False, name="insecure-skip-tls-verify")
    certificate_authority_data: Annotated[
        str, Markers("The authority of the API server's certificate: PEM in base64.")
    ] = msgspec.field(default="", name="certificate-authority-data")


class DataSecretInitialization(View, frozen=True):
    """What a Machine waits for."""

    data_secret_created: Annotated[bool, Markers("Whether the Secret is there.")] = False


class BootstrapKubeconfigStatus(View, frozen=True):
    bootstrap_kubeconfig_data: Annotated[
        str, Markers("Always empty: a token is not shown in a status. The Secret dataSecretName holds it.")
    ] = ""
    data_secret_name: Annotated[str, Markers("The Secret with the kubeconfig, under the key value.")] = ""
    initialization: Annotated[DataSecretInitialization, Markers("What a Machine waits for.")] = (
        DataSecretInitialization()
    )
    token_id: Annotated[
        str, Markers("The public half of the token: the Secret bootstrap-token-ID in kube-system holds the rest.")
    ] = msgspec.field(default="", name="tokenID")
    expiration_time: Annotated[Time | None, Markers("When the token ends.")] = None
    conditions: Annotated[Conditions, Markers("Ready: the token can be used, or why it cannot.")] = ()


class BootstrapKubeconfig(View, frozen=True):
    """How a host finds the API server, with a token of its own that lives for a short time."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[BootstrapKubeconfigSpec, Markers("How the API server is reached.")] = BootstrapKubeconfigSpec()
    status: Annotated[BootstrapKubeconfigStatus, Markers("What was seen last.")] = BootstrapKubeconfigStatus()


class BootstrapKubeconfigTemplateResource(View, frozen=True):
    """A BootstrapKubeconfig to be made."""

    spec: Annotated[BootstrapKubeconfigSpec, Markers("How the API server is reached.", required=True)] = (
        BootstrapKubeconfigSpec()
    )
    labels: Annotated[dict[str, str], Markers("Labels of what is made.")] = msgspec.field(default_factory=dict)
    annotations: Annotated[dict[str, str], Markers("Annotations of what is made.")] = msgspec.field(
        default_factory=dict
    )


class BootstrapKubeconfigTemplateSpec(View, frozen=True):
    template: Annotated[
        BootstrapKubeconfigTemplateResource, Markers("What BootstrapKubeconfigs are made from.", required=True)
    ] = BootstrapKubeconfigTemplateResource()


class BootstrapKubeconfigTemplateStatus(View, frozen=True):
    capacity: Annotated[dict[str, Quantity], Markers("Never set; upstream has it.")] = msgspec.field(
        default_factory=dict
    )


class BootstrapKubeconfigTemplate(View, frozen=True):
    """What the BootstrapKubeconfigs of a pool are made from."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[BootstrapKubeconfigTemplateSpec, Markers("What is made.")] = BootstrapKubeconfigTemplateSpec()
    status: Annotated[BootstrapKubeconfigTemplateStatus, Markers("Nothing yet.")] = BootstrapKubeconfigTemplateStatus()
