"""From a kubeconfig or a pod's service account to access: server, authority and credentials.

`find_access` looks where kubectl looks and takes what kubectl takes. What kubectl can do and Mooring cannot is refused
in a sentence, never passed over, because a client that quietly leaves a credential out acts as another user.
"""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from mooring.client.access import Access, RequestHeaders
from mooring.client.credentials import API_VERSIONS, Clock, ExecPlugin, FileToken, bearer, system_clock
from mooring.client.kubeconfig_files import Kubeconfig, KubeconfigError, KubeconfigSection, default_files, read_files
from mooring.kube.names import is_dns1123_label
from mooring.kube.objects import Object
from mooring.net.tls import client_context, show_certificate

__all__ = ["KubeconfigError", "access_to", "find_access", "in_cluster"]

Headers = Callable[[], RequestHeaders]
Refresh = Callable[[], Awaitable[bool]]

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"
INTERACTIVE_MODES: Final = ("Never", "IfAvailable", "Always")


def find_access(
    kubeconfig: Path | None = None,
    context: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    service_account: Path = SERVICE_ACCOUNT,
    clock: Clock = system_clock,
    with_credentials: bool = True,
) -> Access:
    """As kubectl finds it: the named file, those of KUBECONFIG, ~/.kube/config, or the service account of a pod.

    Without credentials it is the way to the server alone, for those who bring their own.
    """
    environ = os.environ if environ is None else environ
    files = [kubeconfig] if kubeconfig is not None else default_files(environ)
    merged = read_files(files, required=kubeconfig is not None)
    if merged.contexts or merged.clusters or context is not None:
        return access_to(merged, context, environ=environ, clock=clock, with_credentials=with_credentials)
    if environ.get("KUBERNETES_SERVICE_HOST"):
        found = in_cluster(environ, service_account, clock=clock)
        return found if with_credentials else Access(found.server, found.tls, namespace=found.namespace)
    looked = ", ".join(map(str, files)) or "nowhere, because HOME is not set"
    raise KubeconfigError(f"no cluster is configured (looked in {looked}); name a kubeconfig, or set KUBECONFIG")


def in_cluster(environ: Mapping[str, str], folder: Path = SERVICE_ACCOUNT, *, clock: Clock = system_clock) -> Access:
    """Access for a pod with the service account it runs as."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise KubeconfigError("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set: not inside a pod")
    try:
        token = FileToken(folder / "token", clock)
        authority = (folder / "ca.crt").read_bytes()
        home = folder / "namespace"
        namespace = home.read_text(encoding="utf-8").strip() if home.exists() else ""
        tls = client_context(authority=authority)
    except ssl.SSLError:
        raise KubeconfigError(f"{folder / 'ca.crt'}: holds no certificate") from None
    except OSError as error:
        raise KubeconfigError(f"{error.filename}: cannot be read: {error.strerror}") from None
    address = f"[{host}]" if ":" in host else host
    server = f"https://{address}:{port}"
    return Access(
        server,
        tls,
        headers=token.headers,
        refresh=token.refresh,
        namespace=namespace or "default",
        cluster={"server": server, "certificate-authority": str(folder / "ca.crt")},
        user={"tokenFile": str(folder / "token")},
    )


def access_to(
    config: Kubeconfig,
    context: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    clock: Clock = system_clock,
    with_credentials: bool = True,
) -> Access:
    """Access by one context, the current one where none is named."""
    environ = os.environ if environ is None else environ
    cluster, user, namespace = _chosen(config, context)
    server, secure = _server(cluster)
    proxy = _proxy(cluster)
    if not secure:
        # As in kubectl, credentials are never sent over plain HTTP.
        return Access(server, None, namespace=namespace, proxy=proxy, cluster=_cluster_info(cluster), user={})
    tls = _trust(cluster)
    credentials = _credentials(cluster, user, tls, environ, clock) if with_credentials else _Credentials(dict)
    return Access(
        server,
        tls,
        cluster.text("tls-server-name") or None,
        credentials.headers,
        credentials.refresh,
        namespace,
        proxy,
        _cluster_info(cluster),
        _user_info(user),
    )


# Contexts


def _chosen(config: Kubeconfig, context: str | None) -> tuple[KubeconfigSection, KubeconfigSection, str]:
    files = ", ".join(map(str, config.files)) or "no kubeconfig"
    name = context or config.current_context
    known = ", ".join(sorted(config.contexts)) or "none"
    if not name:
        raise KubeconfigError(f"{files}: current-context: is not set; name one of the contexts: {known}")
    found = config.contexts.get(name)
    if found is None:
        field = "contexts" if context else "current-context"
        raise KubeconfigError(f'{files}: {field}: there is no context "{name}"; known are: {known}')
    cluster = _referred(found, "cluster", config.clusters)
    user = _referred(found, "user", config.users)
    namespace = found.text("namespace") or "default"
    if is_dns1123_label(namespace):
        raise found.error("namespace", f'"{namespace}" cannot be the name of a namespace')
    return cluster, user, namespace


def _referred(context: KubeconfigSection, field: str, known: Mapping[str, KubeconfigSection]) -> KubeconfigSection:
    name = context.text(field)
    if not name:
        raise context.error(field, "is not set")
    if name not in known:
        raise context.error(field, f'there is no {field} "{name}"; known are: {", ".join(sorted(known)) or "none"}')
    return known[name]


# Clusters


def _server(cluster: KubeconfigSection) -> tuple[str, bool]:
    server = cluster.text("server")
    if not server:
        raise cluster.error("server", "is not set")
    parts = _split(cluster, "server", server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise cluster.error("server", f'"{server}" must be a URL such as https://10.0.0.1:6443')
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", parts.scheme == "https"


def _split(section: KubeconfigSection, field: str, url: str) -> Any:
    try:
        parts = urlsplit(url)
        # A port that is none shows only when it is asked for.
        _ = parts.port
        return parts
    except ValueError as error:
        raise section.error(field, f'"{url}" is not a URL: {error}') from None


def _proxy(cluster: KubeconfigSection) -> str | None:
    proxy = cluster.text("proxy-url")
    if not proxy:
        return None
    parts = _split(cluster, "proxy-url", proxy)
    if parts.scheme != "http" or not parts.hostname:
        raise cluster.error("proxy-url", "Mooring goes through proxies with http:// URLs only")
    return proxy


def _trust(cluster: KubeconfigSection) -> ssl.SSLContext:
    authority = cluster.data("certificate-authority")
    insecure = cluster.flag("insecure-skip-tls-verify")
    if insecure and authority is not None:
        raise cluster.error("insecure-skip-tls-verify", "cannot be true where an authority to trust is given")
    try:
        return client_context(authority=authority, insecure=insecure)
    except ssl.SSLError:
        field = "certificate-authority-data" if cluster.text("certificate-authority-data") else "certificate-authority"
        raise cluster.error(field, "holds no certificate in PEM") from None


# Users


async def _nothing_new() -> bool:
    return False


class _Credentials(NamedTuple):
    headers: Headers
    refresh: Refresh = _nothing_new


def _credentials(
    cluster: KubeconfigSection, user: KubeconfigSection, tls: ssl.SSLContext, environ: Mapping[str, str], clock: Clock
) -> _Credentials:
    if user.section("auth-provider") is not None:
        raise user.error("auth-provider", "left Kubernetes with version 1.26; use an exec plug-in instead")
    as_somebody = _impersonation(user)
    shown = _show_own_certificate(user, tls)
    fixed = _own_token(user, clock)
    if fixed is None and not shown and (section := user.section("exec")) is not None:
        plugin = _plugin(section, cluster, tls, environ, clock)
        # Run once now, so that a certificate is in place and a plug-in that fails is heard of at the start.
        plugin.current()
        fixed = _Credentials(plugin.headers, plugin.refresh)
    credentials = fixed or _Credentials(dict)
    if not as_somebody:
        return credentials
    return _Credentials(lambda: {**credentials.headers(), **as_somebody}, credentials.refresh)


def _own_token(user: KubeconfigSection, clock: Clock) -> _Credentials | None:
    """A token in the file counts more than one in the kubeconfig, as long as it can be read."""
    token, path = user.text("token"), user.located("tokenFile")
    name, password = user.text("username"), user.text("password")
    if (token or path) and (name or password):
        raise user.error("username", "cannot be given beside a token")
    if path is not None:
        try:
            kept = FileToken(path, clock)
            return _Credentials(kept.headers, kept.refresh)
        except (OSError, UnicodeDecodeError) as error:
            if not token:
                why = error.strerror if isinstance(error, OSError) else "it is not text"
                raise user.error("tokenFile", f"{path} cannot be read: {why}") from None
    if token:
        headers = bearer(token)
        return _Credentials(lambda: headers)
    if name or password:
        basic = base64.b64encode(f"{name}:{password}".encode()).decode()
        return _Credentials(lambda: {"Authorization": f"Basic {basic}"})
    return None


def _show_own_certificate(user: KubeconfigSection, tls: ssl.SSLContext) -> bool:
    certificate, key = user.data("client-certificate"), user.data("client-key")
    if certificate is None:
        return False
    if key is None:
        raise user.error("client-key", "is not set, and a client certificate needs it")
    try:
        show_certificate(tls, certificate, key)
    except (ssl.SSLError, OSError):
        raise user.error("client-certificate", "certificate and key are not PEM that fit each other") from None
    return True


def _impersonation(user: KubeconfigSection) -> dict[str, str]:
    name, uid, groups = user.text("as"), user.text("as-uid"), user.texts("as-groups")
    if user.values.get("as-user-extra"):
        raise user.error("as-user-extra", "is not supported")
    if len(groups) > 1:
        raise user.error("as-groups", "Mooring can act for one group, not for several")
    if (uid or groups) and not name:
        raise user.error("as", "is not set, and as-uid and as-groups need it")
    headers = {"Impersonate-User": name, "Impersonate-Uid": uid, "Impersonate-Group": "".join(groups)}
    return {key: value for key, value in headers.items() if value}


def _plugin(
    section: KubeconfigSection,
    cluster: KubeconfigSection,
    tls: ssl.SSLContext,
    environ: Mapping[str, str],
    clock: Clock,
) -> ExecPlugin:
    command, version = section.text("command"), section.text("apiVersion")
    if not command:
        raise section.error("command", "is not set")
    if version not in API_VERSIONS:
        raise section.error("apiVersion", f'"{version}" is not supported; known are: {", ".join(API_VERSIONS)}')
    mode = section.text("interactiveMode") or ("" if version == API_VERSIONS[0] else "IfAvailable")
    if mode not in INTERACTIVE_MODES:
        raise section.error("interactiveMode", f'"{mode}" must be one of {", ".join(INTERACTIVE_MODES)}')
    environment = dict(environ)
    for variable in section.sections("env"):
        if not variable.text("name"):
            raise variable.error("name", "is not set")
        environment[variable.text("name")] = variable.text("value")
    return ExecPlugin(
        where=f"{section.file}: {section.path}",
        # One without a slash is looked for on the PATH.
        command=str(section.located("command")) if os.sep in command else command,
        arguments=section.texts("args"),
        environment=environment,
        api_version=version,
        interactive_mode=mode,
        cluster=_cluster_info(cluster) if section.flag("provideClusterInfo") else None,
        install_hint=section.text("installHint"),
        install=lambda certificate, key: _install(section, tls, certificate, key),
        clock=clock,
    )


def _install(section: KubeconfigSection, tls: ssl.SSLContext, certificate: str, key: str) -> None:
    try:
        show_certificate(tls, certificate.encode(), key.encode())
    except (ssl.SSLError, OSError):
        raise section.error("command", "answered with certificate and key that do not fit each other") from None


def _user_info(user: KubeconfigSection) -> Object:
    """The user with paths that hold wherever they are read from; for whom it acts is not part of it."""
    info = {name: value for name, value in user.values.items() if name != "as" and not name.startswith("as-")}
    for name in ("client-certificate", "client-key", "tokenFile"):
        if (path := user.located(name)) is not None:
            info[name] = str(path.absolute())
    section = user.section("exec")
    if section is not None and os.sep in section.text("command") and (path := section.located("command")) is not None:
        info["exec"] = {**section.values, "command": str(path.absolute())}
    return info


def _cluster_info(cluster: KubeconfigSection) -> Object:
    authority = cluster.data("certificate-authority")
    info: Object = {
        "server": cluster.text("server"),
        "tls-server-name": cluster.text("tls-server-name"),
        "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify"),
        "certificate-authority-data": base64.b64encode(authority).decode() if authority else "",
        "proxy-url": cluster.text("proxy-url"),
    }
    for extension in cluster.sections("extensions"):
        if extension.text("name") == EXEC_EXTENSION:
            info["config"] = extension.values.get("extension")
    return {name: value for name, value in info.items() if value or name == "server"}
