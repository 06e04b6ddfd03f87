"""A real Kubernetes control plane on loopback, the second home of every test: etcd, kube-apiserver, and on request
kube-scheduler and kube-controller-manager.

Settings are a cluster's defaults (the Node authorizer and RBAC, every default admission plugin and NodeRestriction),
except that people come by token instead of by client certificate and that etcd does not wait for the disk unless told
to.

    python -m mooring.testing.controlplane --data DIR --with kube-scheduler,kube-controller-manager
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import secrets
import signal
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from mooring.net.certificates import ensure_certificates, ensure_kubelet_client_certificate
from mooring.testing.processes import ProgramEnded, ProgramProcess, free_port
from mooring.testing.tools import ToolMissing, tool

ETCD_SECONDS = 30.0
# Two busy cores took 6 s at best and 20 s at worst.
API_SECONDS = 90.0
LOOPBACK = "127.0.0.1"
NAMES = (LOOPBACK, "localhost", "kubernetes.default.svc")
EXTRAS = ("kube-scheduler", "kube-controller-manager")
AUDIT_LOG = "audit.log"
# Every request, without its body, when it has been answered.
EVERY_REQUEST = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


class ControlPlane:
    """Starts with `start` or `with`; `kubeconfig` is the administrator's. `flags` are more of the API server's.

    `users` are more users, by name, with their groups; `tokens` has a token for each. `host` is an address of this
    machine that the API is served at, for kubelets that are elsewhere. `audit` is the policy of an audit log, which is
    then the file `audit.log` in the folder.
    """

    def __init__(
        self,
        folder: Path,
        extras: Collection[str] = (),
        *,
        fsync: bool = False,
        gates: Collection[str] = (),
        flags: Collection[str] = (),
        users: Mapping[str, Sequence[str]] | None = None,
        host: str = LOOPBACK,
        audit: Mapping[str, object] | None = None,
    ) -> None:
        for name in extras:
            if name not in EXTRAS:
                raise ValueError(
                    f'A control plane has no "{name}"; beside the API server there are {", ".join(EXTRAS)}.'
                )
        self.folder = folder
        self.extras = tuple(extras)
        self.fsync = fsync
        self._gates = [f"--feature-gates={','.join(gates)}"] if gates else []
        self._flags = tuple(flags)
        self._audit = audit
        self.host = host
        self.port = free_port()
        self.etcd_port = free_port()
        self.token = secrets.token_urlsafe(32)
        self.users = dict(users or {})
        self.tokens = {name: secrets.token_urlsafe(32) for name in self.users}
        self._processes: list[ProgramProcess] = []

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def ca(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def etcd_url(self) -> str:
        return f"http://127.0.0.1:{self.etcd_port}"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC)
        self._files = ensure_certificates(self.folder, (*NAMES, self.host), now=now)
        ensure_kubelet_client_certificate(self._files, now=now)
        _write_signing_key(self.folder / "serviceaccount.key")
        self._write_access()
        try:
            self._start_etcd()
            self._start_api_server()
            for name in self.extras:
                self._start_extra(name)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """In the reverse order, so that nothing logs errors about what is gone already."""
        while self._processes:
            self._processes.pop().stop()

    def kill_api_server(self) -> None:
        """kill -9 of kube-apiserver, which is then started anew at the same address."""
        [(place, server)] = [each for each in enumerate(self._processes) if each[1].name == "kube-apiserver"]
        server.kill()
        self._start_api_server()
        self._processes[place] = self._processes.pop()

    def pids(self) -> dict[str, int]:
        return {process.name: process.pid for process in self._processes}

    def __enter__(self) -> ControlPlane:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _write_access(self) -> None:
        users = self.folder / "tokens.csv"
        users.touch(mode=0o600)
        lines = [f'{self.token},kubernetes-admin,admin,"system:masters"\n']
        for name, groups in self.users.items():
            # An empty fourth field would be a group without a name.
            lines.append(f"{self.tokens[name]},{name}," + (f',"{",".join(groups)}"' if groups else "") + "\n")
        users.write_text("".join(lines), encoding="utf-8")
        write_kubeconfig(self.kubeconfig, "real", self.url, self.ca, self.token)

    def _start_etcd(self) -> None:
        peers = f"http://127.0.0.1:{free_port()}"
        etcd = self._spawn(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self.etcd_url}",
            f"--advertise-client-urls={self.etcd_url}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            *([] if self.fsync else ["--unsafe-no-fsync"]),
        )
        etcd.wait_until(lambda: answers(f"{self.etcd_url}/health"), ETCD_SECONDS)

    def _start_api_server(self) -> None:
        key = self.folder / "serviceaccount.key"
        server = self._spawn(
            "kube-apiserver",
            f"--etcd-servers={self.etcd_url}",
            f"--bind-address={self.host}",
            f"--advertise-address={self.host}",
            f"--secure-port={self.port}",
            *self._certificate_flags(),
            f"--client-ca-file={self.ca}",
            f"--kubelet-certificate-authority={self.ca}",
            f"--kubelet-client-certificate={self._files.kubelet_client_certificate}",
            f"--kubelet-client-key={self._files.kubelet_client_key}",
            "--kubelet-preferred-address-types=InternalIP",
            "--enable-bootstrap-token-auth",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            f"--service-account-issuer={self.url}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            # A loopback address may not be an endpoint of the kubernetes Service.
            "--endpoint-reconciler-type=none",
            *self._gates,
            *self._audit_flags(),
            *self._flags,
        )
        server.wait_until(lambda: answers(f"{self.url}/readyz", self.ca), API_SECONDS)

    def _start_extra(self, name: str) -> None:
        port = free_port()
        flags = [f"--kubeconfig={self.kubeconfig}", f"--secure-port={port}", "--bind-address=127.0.0.1"]
        if name == "kube-controller-manager":
            key = self.folder / "serviceaccount.key"
            flags += [f"--service-account-private-key-file={key}", f"--root-ca-file={self.ca}"]
            authority = self._files.authority_key
            flags += [f"--cluster-signing-cert-file={self.ca}", f"--cluster-signing-key-file={authority}"]
        flags += ["--leader-elect=false", *self._certificate_flags(), *self._gates]
        process = self._spawn(name, *flags)
        process.wait_until(lambda: answers(f"https://127.0.0.1:{port}/healthz", self.ca), API_SECONDS)

    def _certificate_flags(self) -> list[str]:
        return [f"--tls-cert-file={self.folder / 'server.crt'}", f"--tls-private-key-file={self.folder / 'server.key'}"]

    def _audit_flags(self) -> list[str]:
        if self._audit is None:
            return []
        policy = self.folder / "audit.yaml"
        policy.write_text(yaml.safe_dump(dict(self._audit)), encoding="utf-8")
        return [f"--audit-policy-file={policy}", f"--audit-log-path={self.folder / AUDIT_LOG}"]

    def _spawn(self, name: str, *flags: str) -> ProgramProcess:
        process = ProgramProcess([tool(name), *flags], self.folder / f"{name}.log")
        self._processes.append(process)
        return process


def _write_signing_key(path: Path) -> None:
    """The key that signs the tokens of service accounts; clusters have RSA keys for it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    plain = serialization.NoEncryption()
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))


def write_kubeconfig(path: Path, name: str, url: str, ca: Path, token: str) -> None:
    """A file for kubectl and every other client, for one server and one user, readable by its owner only."""
    authority = base64.b64encode(ca.read_bytes()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": url, "certificate-authority-data": authority}}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config), encoding="utf-8")


def answers(url: str, ca: Path | None = None) -> bool:
    """Whether the URL answers 200 now."""
    trust = ssl.create_default_context(cafile=str(ca)) if ca else None
    try:
        with urllib.request.urlopen(url, timeout=5, context=trust) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m mooring.testing.controlplane", description="Runs a real control plane."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder for data, logs and the kubeconfig")
    parser.add_argument("--with", dest="extras", default="", help=f"also start these, by comma: {','.join(EXTRAS)}")
    parser.add_argument("--fsync", action="store_true", help="let etcd wait for the disk, as clusters do")
    options = parser.parse_args()
    # SIGTERM ends the wait below in the way Ctrl-C does, so that the children are stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        extras = [name for name in options.extras.split(",") if name]
        with contextlib.suppress(KeyboardInterrupt), ControlPlane(options.data, extras, fsync=options.fsync) as plane:
            print(plane.kubeconfig, flush=True)
            while True:
                signal.pause()
    except (ToolMissing, ProgramEnded, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
