"""Where the API and the page are served, by which names they are reached, and what is said where they cannot be."""

from __future__ import annotations

import errno
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from mooring.kube.errors import InputError
from mooring.supervisor import page_address
from mooring.supervisor.address import Address, bind, parse_address
from mooring.supervisor.page_address import ServedPage, bind_page, page_beside

SERVICES = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:7443", "127.0.0.1", 7443),
        ("localhost:0", "localhost", 0),
        ("[::1]:65535", "::1", 65535),
        ("[::]:1", "::", 1),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, host: str, port: int) -> None:
    found = parse_address(text)
    assert found == (host, port)
    assert str(found) == text


@pytest.mark.parametrize(
    "text", ["", "7443", ":7443", "a:", "a:x", "a:65536", "a:-1", "::1:80", "[]:80", "a:\u0663", "[::1:80"]
)
def test_what_is_no_address_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InputError) as told:
        parse_address(text, "--advertise")
    assert str(told.value) == f'--advertise "{text}" is not HOST:PORT, such as 127.0.0.1:7443 or [::1]:7443'
    with pytest.raises(InputError, match=r'^--bind "'):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "everywhere", "local", "url"),
    [
        ("0.0.0.0", True, False, "https://127.0.0.1:80"),
        ("::", True, False, "https://[::1]:80"),
        ("127.0.0.1", False, True, "https://127.0.0.1:80"),
        ("127.9.9.9", False, True, "https://127.9.9.9:80"),
        ("::1", False, True, "https://[::1]:80"),
        ("localhost", False, True, "https://localhost:80"),
        ("192.0.2.7", False, False, "https://192.0.2.7:80"),
        ("example.com", False, False, "https://example.com:80"),
    ],
)
def test_who_can_reach_an_address_and_how(host: str, everywhere: bool, local: bool, url: str) -> None:
    found = Address(host, 80)
    assert (found.is_everywhere, found.is_local, found.url) == (everywhere, local, url)


class Probe:
    """A socket by which an address of this machine is found out; the machine has no IPv6."""

    def __init__(self, family: int, kind: int) -> None:
        assert kind == socket.SOCK_DGRAM
        self.family = family

    def __enter__(self) -> Probe:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def connect(self, target: tuple[str, int]) -> None:
        assert target == (("192.0.2.1", 9) if self.family == socket.AF_INET else ("2001:db8::1", 9))

    def getsockname(self) -> tuple[str, int]:
        if self.family == socket.AF_INET:
            raise OSError
        return "fe80::7%eth0", 1


def test_a_certificate_vouches_for_every_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "machine")
    local = ["localhost", "127.0.0.1", "::1", *SERVICES]
    assert Address("127.0.0.1", 80).names() == [*local, "machine"]
    assert Address("example.com", 80).names() == [*local, "machine", "example.com"]
    monkeypatch.setattr("socket.socket", Probe)
    for everywhere in ("0.0.0.0", "::"):
        assert Address(everywhere, 80).names() == [*local, "machine", "fe80::7"]
    for odd in ("m\u00fcller", ""):
        monkeypatch.setattr("socket.gethostname", lambda odd=odd: odd)
        assert Address("127.0.0.1", 80).names() == local


def test_a_socket_listens_where_it_is_told_and_a_taken_port_is_said() -> None:
    first, taken = bind(Address("127.0.0.1", 0))
    try:
        assert taken.host == "127.0.0.1"
        assert taken.port == first.getsockname()[1] > 0
        assert first.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert first.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        with pytest.raises(InputError) as told:
            bind(taken)
        another = taken.port % 65535 + 1
        assert str(told.value) == (
            f"port {taken.port} on 127.0.0.1 is in use; choose another one, such as --bind 127.0.0.1:{another}"
        )
        with pytest.raises(InputError, match=rf"such as --port 127.0.0.1:{another}$"):
            bind_page("127.0.0.1", taken.port)
        with pytest.raises(InputError, match=rf"such as --ui-port 127.0.0.1:{another}$"):
            page_beside(Address("127.0.0.1", 1), taken.port)
    finally:
        first.close()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EADDRINUSE, "port 65535 on ::1 is in use; choose another one, such as --bind [::1]:1"),
        (errno.EACCES, "port 65535 is for programs with special rights; choose one above 1023 with --bind"),
        (errno.EADDRNOTAVAIL, "--bind [::1]:65535: ::1 is not an address of this machine"),
        (errno.ENOBUFS, "--bind [::1]:65535: No buffer space available"),
    ],
)
def test_why_a_socket_cannot_be_bound_is_said_and_it_is_closed(
    monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    closed = []

    def refuse(target: Any) -> None:
        raise OSError(number, "No buffer space available")

    played = SimpleNamespace(setsockopt=lambda *_: None, bind=refuse, close=lambda: closed.append(True))
    monkeypatch.setattr("socket.socket", lambda *_: played)
    with pytest.raises(InputError) as told:
        bind(Address("::1", 65535))
    assert (str(told.value), closed) == (said, [True])


def test_a_host_that_there_is_not_is_said() -> None:
    for host in ("no host", "a..b", "x" * 80):
        with pytest.raises(InputError) as told:
            bind(Address(host, 80))
        assert str(told.value) == f'--bind {host}:80: there is no host "{host}"'


def test_the_page_has_the_port_after_the_api_or_a_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: set[int] = set()
    listening: Any = object()

    def played(wanted: Address) -> tuple[Any, Address]:
        if wanted.port in taken:
            raise InputError(f"port {wanted.port} is in use, --bind")
        return listening, wanted

    monkeypatch.setattr(page_address, "bind", played)
    api = Address("0.0.0.0", 7443)
    assert page_beside(api, None).address == ("127.0.0.1", 7444)
    assert page_beside(Address("::", 65535), None).address == ("127.0.0.1", 1)
    assert page_beside(api, 9000).address == ("127.0.0.1", 9000)
    taken |= {7444, 9000}
    assert page_beside(api, None).address == ("127.0.0.1", 0)
    with pytest.raises(InputError, match=r"^port 9000 is in use, --ui-port$"):
        page_beside(api, 9000)
    one, two = page_beside(api, None), page_beside(api, None)
    assert one.token != two.token
    assert len(one.token) == 64
    assert ServedPage(listening, Address("::1", 80), "abc").url == "http://[::1]:80/#token=abc"
