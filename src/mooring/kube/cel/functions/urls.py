"""URLs in expressions: `url("https://example.com:80/path").getHost()`; a rooted path is one too."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final
from urllib.parse import quote, unquote_plus

from mooring.kube.cel.functions.model import Function, read_argument
from mooring.kube.cel.values import Url
from mooring.kube.errors import go_quote

URL: Final = "kubernetes.URL"
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_BAD_IN_HOST: Final = re.compile(r"[ #\\^`{}|]")
# Letters of ASCII are written as they are.
_BAD_HOST_ESCAPE: Final = re.compile(r"%(?![89a-fA-F][0-9a-fA-F]|25).{0,2}", re.DOTALL)


def parse_url(text: str) -> Url:
    """Raises ValueError with the words of Go's parser. It is first looked at as if it had no fragment, then read."""
    found = _parse(text)
    whole, mark, _ = text.partition("#")
    return replace(_parse(whole), text=text) if mark else found


def _parse(text: str) -> Url:

    def wrong(why: str) -> ValueError:
        return ValueError(f"parse {go_quote(text)}: {why}")

    if not text:
        raise wrong("empty url")
    if _CONTROL.search(text):
        raise ValueError(f"parse {go_quote(text)}: net/url: invalid control character in URL")
    scheme, rest = _scheme(text, wrong)
    if text == "*":
        return Url(text, "", "", "", "", "*", ())
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return _opaque(text, scheme, rest, query)
        raise wrong("invalid URI for request")
    host = ""
    if (scheme and rest.startswith("//")) or (rest.startswith("//") and not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        host, rest = authority.rpartition("@")[2], slash + path
        _check_host(host, wrong)
    if found := _BAD_ESCAPE.search(rest):
        raise wrong(f"invalid URL escape {go_quote(found[0])}")
    hostname, port = _split_host(host)
    path = quote(rest, safe="/%:@!$&'()*+,;=~-._[]") if rest else ""
    return Url(text, scheme.lower(), host, hostname, port, path, _query(query))


def _opaque(text: str, scheme: str, rest: str, query: str) -> Url:
    return Url(text, scheme.lower(), "", "", "", "", _query(query))


def _scheme(text: str, wrong: object) -> tuple[str, str]:
    head, colon, rest = text.partition(":")
    if not colon or not head or not re.fullmatch(r"[a-zA-Z0-9+.-]+", head):
        if text.startswith(":"):
            raise ValueError(f"parse {go_quote(text)}: missing protocol scheme")
        return "", text
    if not _SCHEME.fullmatch(head):
        if head[0].isdigit() or head[0] in "+-.":
            return "", text
        raise ValueError(f"parse {go_quote(text)}: first path segment in URL cannot contain colon")
    return head, rest


def _check_host(host: str, wrong: object) -> None:
    assert callable(wrong)
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise wrong("missing ']' in host")
        port = host[end + 1 :]
    else:
        _, colon, number = host.rpartition(":")
        port = colon + number if colon else ""
    if not _PORT.fullmatch(port):
        raise wrong(f"invalid port {go_quote(port)} after host")
    if found := _BAD_IN_HOST.search(host):
        raise wrong(f"invalid character {go_quote(found[0])} in host name")
    if found := _BAD_HOST_ESCAPE.search(host):
        raise wrong(f"invalid URL escape {go_quote(found[0])}")


def _split_host(host: str) -> tuple[str, str]:
    head, colon, port = host.rpartition(":")
    if not colon or "]" in port:
        head, port = host, ""
    return head.removeprefix("[").removesuffix("]") if head.startswith("[") else head, port


def _query(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for pair in text.split("&"):
        if not pair or ";" in pair:
            continue
        key, _, value = pair.partition("=")
        if _BAD_ESCAPE.search(pair):
            continue
        found.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    return tuple((key, tuple(values)) for key, values in found.items())


def _url(text: str) -> Url:
    try:
        return parse_url(text)
    except ValueError as error:
        raise ValueError(f"URL parse error during conversion from string: {error}") from None


def _is_url(text: str) -> bool:
    try:
        parse_url(text)
    except ValueError:
        return False
    return True


_ONE: Final = (URL,)

URLS: Final = (
    Function("url", ("string",), URL, _url, cost=read_argument()),
    Function("isURL", ("string",), "bool", _is_url),
    Function("getScheme", _ONE, "string", lambda url: url.scheme, member=True),
    Function("getHost", _ONE, "string", lambda url: url.host, member=True),
    Function("getHostname", _ONE, "string", lambda url: url.hostname, member=True),
    Function("getPort", _ONE, "string", lambda url: url.port, member=True),
    Function("getEscapedPath", _ONE, "string", lambda url: url.path, member=True),
    Function(
        "getQuery",
        _ONE,
        "map<string,list<string>>",
        lambda url: {key: list(values) for key, values in url.query},
        member=True,
    ),
)
