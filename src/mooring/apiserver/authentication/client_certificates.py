"""Users of client certificates: the common name is the user, the organizations are its groups.

TLS has verified the certificate by the cluster's authority before a request comes; one that is foreign or expired fails
its handshake. A connection may outlive its certificate, so the end of it is looked at for every request.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final

from mooring.apiserver.authentication.users import AUTHENTICATED, User
from mooring.net.tls import ClientCertificate

__all__ = ["certificate_user"]

# The attribute for the uid of a user, in the arc of numbers that belongs to Kubernetes.
_UID: Final = "1.3.6.1.4.1.57683.2"
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"


def certificate_user(certificate: ClientCertificate, now: datetime) -> User | None:
    """The user, or None for a certificate that names none or has expired."""
    return None if now.timestamp() > certificate.expires else _user(certificate)


@lru_cache(maxsize=1024)
def _user(certificate: ClientCertificate) -> User | None:
    names = [value for key, value in certificate.subject if key == "commonName"]
    if not names or not names[-1]:
        return None
    groups = tuple(value for key, value in certificate.subject if key == "organizationName")
    uid = next((value for key, value in certificate.subject if key == _UID), "")
    extra = ((_CREDENTIAL, (f"X509SHA256={certificate.digest}",)),)
    return User(names[-1], tuple(dict.fromkeys((*groups, AUTHENTICATED))), uid, extra)
