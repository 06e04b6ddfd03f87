"""Sentences about a connection that could not be made: what is wrong, and the way out.

OpenSSL calls every certificate that it refuses by one reason, and asyncio tells of calls and tuples.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
from typing import Final

from mooring.net.destination import UNKNOWN_AUTHORITY

__all__ = ["dial_error"]

# What OpenSSL calls a certificate whose time has not come or is over, and one that bears other names.
_NOT_YET_VALID: Final = 9
_EXPIRED: Final = 10
_OTHER_NAMES: Final = frozenset({62, 64})
_ERRNO: Final = re.compile(r"\[Errno (\d+)\]")


def dial_error(server: str, error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{server} cannot be trusted: {_of_certificate(error)}"
    if isinstance(error, ssl.SSLError):
        return f"{server} cannot be trusted: {error.reason or error}"
    if isinstance(error, socket.gaierror):
        return f"{server} cannot be reached: its name is not known ({error.strerror}); correct it in the kubeconfig"
    # Where a name has several addresses, asyncio leaves the numbers in the text only.
    numbers = [error.errno] if isinstance(error, OSError) and error.errno else _ERRNO.findall(str(error))
    if not numbers:
        return f"{server} cannot be reached: {str(error) or type(error).__name__}"
    why = os.strerror(int(numbers[0])).lower()
    return f"{server} cannot be reached: {why}; see that it runs and that the address in the kubeconfig is right"


def _of_certificate(error: ssl.SSLCertVerificationError) -> str:
    code, said = error.verify_code, error.verify_message
    if code == _EXPIRED:
        return "its certificate has expired; have the server renew it"
    if code == _NOT_YET_VALID:
        return "its certificate is not valid yet; compare the clocks of the server and of this machine"
    if code in UNKNOWN_AUTHORITY:
        return (
            f"its certificate is signed by an unknown authority ({said}); see certificate-authority of the kubeconfig"
        )
    if code in _OTHER_NAMES:
        return f"its certificate is for another name ({said}); see server and tls-server-name of the kubeconfig"
    return f"its certificate is refused ({said})"
