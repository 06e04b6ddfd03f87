"""Where the page and its REST API are served: a port beside that of the API, on this machine only."""

from __future__ import annotations

import os
import socket
from typing import Final, NamedTuple

from mooring.kube.errors import InputError
from mooring.supervisor.address import Address, bind

__all__ = ["DEFAULT_PAGE_PORT", "ServedPage", "bind_page", "page_beside"]

DEFAULT_PAGE_PORT: Final = 7444
_LOCAL: Final = "127.0.0.1"


class ServedPage(NamedTuple):
    """`token` stands for whoever started the process, for as long as it runs. It is printed once and kept nowhere."""

    listening: socket.socket
    address: Address
    token: str

    @property
    def url(self) -> str:
        """The token is in the fragment, which browsers send to nobody."""
        return f"http://{self.address}/#token={self.token}"


def bind_page(host: str, port: int) -> ServedPage:
    try:
        listening, address = bind(Address(host, port))
    except InputError as error:
        raise InputError(error.message.replace("--bind", "--port")) from None
    return ServedPage(listening, address, os.urandom(32).hex())


def page_beside(api: Address, port: int | None) -> ServedPage:
    """The page of `mooring up`. Without a port it is the one after the API's, or a free one where that is taken."""
    if port is not None:
        try:
            return bind_page(_LOCAL, port)
        except InputError as error:
            raise InputError(error.message.replace("--port", "--ui-port")) from None
    try:
        return bind_page(_LOCAL, api.port % 65535 + 1)
    except InputError:
        return bind_page(_LOCAL, 0)
