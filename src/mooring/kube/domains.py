"""The rules for names with a domain in them: `acme.io/foo`, `webhook.acme.io`, `*.acme.io`."""

import re
from typing import Final

from mooring.kube.errors import FieldError, invalid, required
from mooring.kube.names import byte_length, is_dns1123_label, is_dns1123_subdomain

__all__ = ["check_domain_path", "check_full_domain", "is_wildcard_domain"]

Errors = list[FieldError]

_PATH_FMT: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_PATH: Final = re.compile(_PATH_FMT).fullmatch
_LABEL_FMT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_WILDCARD_FMT: Final = rf"\*\.{_LABEL_FMT}(\.{_LABEL_FMT})*"
_WILDCARD: Final = re.compile(_WILDCARD_FMT).fullmatch
_MAX_DOMAIN_BYTES: Final = 253


def check_domain_path(errors: Errors, value: str, path: str) -> None:
    """A domain, a slash and a path: `acme.io/foo`."""
    if not value:
        errors.append(required(path, ""))
        return
    domain, _, rest = value.partition("/")
    if not domain or not rest:
        errors.append(invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")'))
        return
    errors += [invalid(path, domain, text) for text in is_dns1123_subdomain(domain)]
    if not _PATH(rest):
        errors.append(invalid(path, rest, f"Invalid path (regex used for validation is '{_PATH_FMT}')"))


def check_full_domain(errors: Errors, value: str, path: str, parts: int = 2) -> None:
    """A name of at least so many parts with dots between them."""
    if not value:
        errors.append(required(path, ""))
        return
    value = value.removesuffix(".") if parts == 2 else value
    if texts := is_dns1123_subdomain(value):
        errors.append(invalid(path, value, ",".join(texts)))
    elif value.count(".") < parts - 1:
        count = {2: "two", 3: "three"}[parts]
        errors.append(invalid(path, value, f"should be a domain with at least {count} segments separated by dots"))
    else:
        # A part of a subdomain can only be too long.
        errors += [invalid(path, part, text) for part in value.split(".") for text in is_dns1123_label(part)][:1]


def is_wildcard_domain(value: str) -> list[str]:
    """What is wrong with a domain that begins with an asterisk."""
    texts = [f"must be no more than {_MAX_DOMAIN_BYTES} characters"] if byte_length(value) > _MAX_DOMAIN_BYTES else []
    if not _WILDCARD(value):
        texts.append(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
            "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
            f"(e.g. '*.example.com', regex used for validation is '{_WILDCARD_FMT}')"
        )
    return texts
