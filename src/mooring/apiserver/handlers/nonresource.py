"""The non-resource paths that describe the server: discovery, OpenAPI, OpenID discovery, and the list of paths."""

from contextlib import suppress
from typing import Final

from mooring.apiserver import discovery, openapi
from mooring.apiserver.aggregation import Aggregator
from mooring.apiserver.aggregation.merged_discovery import (
    with_remote_group,
    with_remote_groups,
    with_remote_resources,
)
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import ALGORITHM
from mooring.apiserver.messages.negotiation import Representation, negotiate_discovery
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.messages.responses import Response, encode, json_response, text_response
from mooring.apiserver.resource_metrics.resources import METRICS
from mooring.apiserver.routing import RequestInfo
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Registry, Resource

__all__ = ["NonResourceHandler"]


_OPENID_CONFIGURATION: Final = "/.well-known/openid-configuration"
_OPENID_KEYS: Final = "/openid/v1/jwks"
_PATHS: Final = (
    _OPENID_CONFIGURATION,
    "/healthz",
    "/livez",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    _OPENID_KEYS,
    "/readyz",
    "/version",
)
_KEYS_TYPE: Final = b"application/jwk-set+json"
# Keys change only when their file is replaced and the server restarts.
_OPENID_CACHED: Final = (b"cache-control", b"public, max-age=3600")
# A document is addressed by the hash of its content, so a client may keep it for as long as it likes.
_IMMUTABLE: Final = (b"cache-control", b"public, immutable")
_PUBLIC: Final = (b"cache-control", b"public")
_VARY: Final = (b"vary", b"Accept")
_V2_PROTOBUF_TYPE: Final = b"application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


class NonResourceHandler:
    def __init__(self, registry: Registry, accounts: ServiceAccountTokens, aggregator: Aggregator) -> None:
        self._registry, self._accounts, self._aggregator = registry, accounts, aggregator

    @property
    def _resources(self) -> list[Resource]:
        """What is stored, and what is measured; a definition of the same kind takes its place."""
        stored = self._registry.resources
        return [*stored, *(each for each in METRICS if stored.find(each.api_version, each.kind) is None)]

    def root(self) -> Response:
        """The paths that there are."""
        groups = [each["name"] for each in discovery.group_list(self._resources)["groups"]]
        versions = {f"/apis/{each.api_version}" for each in self._resources if each.group}
        paths = {"/api", "/api/v1", "/apis", *(f"/apis/{name}" for name in groups), *versions, *_PATHS}
        return json_response({"paths": sorted(paths)})

    def discovery(self, request: HttpRequest, target: RequestInfo) -> Response:
        representation = negotiate_discovery(request.header(b"accept"))
        resources, core = self._resources, target.root == "api"
        if target.version:
            return json_response(discovery.resource_list(resources, target.group, target.version))
        remote = self._aggregator.remote
        if target.group:
            return json_response(self._group(target.group))
        if representation.kind:
            document = discovery.aggregated(resources, core, representation.version)
            shown = document if core or not remote else with_remote_resources(document, remote)
            return _aggregated(shown, representation)
        found = discovery.api_versions() if core else with_remote_groups(discovery.group_list(resources), remote)
        return Response(200, encode(found))

    def _group(self, name: str) -> Object:
        own = None
        with suppress(NotFoundError):
            own = discovery.group(self._resources, name)
        found = with_remote_group(own, name, self._aggregator.remote)
        if found is None:
            raise NotFoundError("the server could not find the requested resource")
        return found

    async def openapi(self, request: HttpRequest, target: RequestInfo) -> Response:
        """The index of OpenAPI v3 and its documents, and the document of v2."""
        match target.rest:
            case ("v3",):
                await self._make(request, v2=False)
                return json_response(self._index())
            case ("v3", "api", version):
                return self._document(request, "", version)
            case ("v3", "apis", group, version):
                return self._document(request, group, version)
            case ("v2",):
                protobuf = "protobuf" in request.header(b"accept")
                await self._make(request, v2=True, protobuf=protobuf)
                if protobuf:
                    return Response(200, openapi.swagger_protobuf(self._registry), _V2_PROTOBUF_TYPE)
                return Response(200, openapi.swagger_json(self._registry))
        return text_response("404 page not found\n", 404)

    async def _make(self, request: HttpRequest, *, v2: bool, protobuf: bool = False) -> None:
        for _ in openapi.make_slices(self._registry, v2=v2, protobuf=protobuf):
            await request.turn()

    def _index(self) -> Object:
        found = openapi.index(self._registry)
        for of in self._aggregator.remote:
            # The server behind answers for it; what it holds is not known here.
            path = of.path.removeprefix("/")
            found["paths"][path] = {"serverRelativeURL": f"/openapi/v3/{path}"}
        return found

    def openid(self, request: HttpRequest, target: RequestInfo) -> Response:
        """What others need to verify tokens of ServiceAccounts by themselves: the issuer, and its public key."""
        match target.root, target.rest:
            case ".well-known", ("openid-configuration",):
                found = {
                    "issuer": self._accounts.issuer,
                    "jwks_uri": f"https://{request.header(b'host')}{_OPENID_KEYS}",
                    "response_types_supported": ["id_token"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": [ALGORITHM],
                }
                return Response(200, encode(found), headers=(_OPENID_CACHED,))
            case "openid", ("v1", "jwks"):
                keys = encode({"keys": [self._accounts.key.public]})
                return Response(200, keys, _KEYS_TYPE, (_OPENID_CACHED,))
        return text_response("404 page not found\n", 404)

    def _document(self, request: HttpRequest, group: str, version: str) -> Response:
        body, digest = openapi.encoded(self._registry, group, version)
        tag = (b"etag", f'"{digest}"'.encode())
        if digest in request.header(b"if-none-match"):
            return Response(304, b"", headers=(tag,))
        headers = (tag, _IMMUTABLE) if request.text("hash") == digest else (tag,)
        return Response(200, body, headers=headers)


def _aggregated(found: Object, representation: Representation) -> Response:
    content_type = f"application/json;g=apidiscovery.k8s.io;v={representation.version};as=APIGroupDiscoveryList"
    return Response(200, encode(found), content_type.encode(), (_VARY, _PUBLIC))
