"""CertificateSigningRequests: what the API server adds to them, and what it says about them, in its order.

An approval is a write to the approval sub-resource; signers are controllers (`builtin/certificates`).
"""

import base64
from typing import Final

from mooring.kube.conditions import conditions_of, find_condition, transition_time
from mooring.kube.errors import (
    Enum,
    FieldError,
    duplicate,
    forbidden,
    go_quote,
    invalid,
    not_supported,
    required,
    too_long,
)
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = [
    "prepare_request",
    "prepare_request_status",
    "prepare_request_update",
    "validate_request",
    "validate_request_status",
    "validate_signed_request",
]

Errors = list[FieldError]

_BEGIN: Final = b"-----BEGIN CERTIFICATE REQUEST-----"
_CERTIFICATE: Final = b"-----BEGIN CERTIFICATE-----"
_USAGES: Final = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"),
    *("decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"),
    *("ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"),
    *("server auth", "signing", "timestamping"),
)
_ALWAYS_TRUE: Final = ("Approved", "Denied", "Failed")
_LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"


def prepare_request(obj: Object, now: str) -> None:
    for name in ("username", "uid", "groups", "extra"):
        obj["spec"].pop(name, None)
    obj["status"] = {}


def prepare_request_update(new: Object, old: Object) -> None:
    """What was asked for cannot change."""
    new["spec"] = old["spec"]


def prepare_request_status(new: Object, old: Object, now: str) -> None:
    """Conditions say since when they hold."""
    before = conditions_of(old)
    made = []
    for condition in new["status"].get("conditions", ()):
        filled = dict(condition)
        if filled.get("lastUpdateTime") is None:
            filled["lastUpdateTime"] = now
        if filled.get("lastTransitionTime") is None:
            filled["lastTransitionTime"] = transition_time(
                find_condition(before, condition["type"]), condition["status"], now
            )
        made.append(filled)
    if made:
        new["status"] = {**new["status"], "conditions": made}


def validate_request(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    request, signer, usages = spec["request"], spec["signerName"], spec.get("usages", [])
    if not base64.b64decode(request or "").lstrip().startswith(_BEGIN):
        shown = None if request is None else Enum(request)
        errors.append(invalid("spec.request", shown, "PEM block type must be CERTIFICATE REQUEST"))
    if not usages:
        errors.append(required("spec.usages", ""))
    errors += [
        not_supported(f"spec.usages[{index}]", Enum(usage), _USAGES)
        for index, usage in enumerate(usages)
        if usage not in _USAGES
    ]
    errors += [
        duplicate(f"spec.usages[{index}]", Enum(usage)) for index, usage in enumerate(usages) if usage in usages[:index]
    ]
    if signer == _LEGACY_SIGNER:
        detail = "the legacy signerName is not allowed via this API version"
        errors.append(invalid("spec.signerName", signer, detail))
    else:
        _check_signer(errors, signer, "spec.signerName")
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < 600:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid("spec.expirationSeconds", seconds, detail))
    return errors


def _check_signer(errors: Errors, signer: str, path: str) -> None:
    if not signer:
        errors.append(required(path, ""))
        return
    segments = signer.split("/")
    if len(segments) != 2:
        detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        errors.append(invalid(path, signer, detail))
        return
    for segment, rule, longest in ((segments[0], is_dns1123_label, 253), (segments[1], is_dns1123_subdomain, 0)):
        if longest and len(segment) > longest:
            errors.append(too_long(path, longest))
        wrong = next((label for label in segment.split(".") if rule(label)), None)
        if wrong is not None:
            errors += [invalid(path, segment, f"validating label {go_quote(wrong)}: {text}") for text in rule(wrong)]
        if longest and "." not in segment:
            detail = "should be a domain with at least two segments separated by dots"
            errors.append(invalid(path, segment, detail))


def validate_signed_request(new: Object, old: Object) -> list[FieldError]:
    """Of a status: who signs does not approve."""
    errors: Errors = []
    for kind in ("Approved", "Denied"):
        given, before = (
            [each for each in obj["status"].get("conditions", ()) if each["type"] == kind] for obj in (new, old)
        )
        if len(given) > len(before):
            errors.append(forbidden("status.conditions", f'updates may not add a condition of type "{kind}"'))
    certificate = new["status"].get("certificate", "")
    changed = certificate != old["status"].get("certificate", "")
    if certificate and changed and _CERTIFICATE not in base64.b64decode(certificate):
        detail = "must contain at least one CERTIFICATE PEM block"
        errors.append(invalid("status.certificate", "<certificate data>", detail))
    return errors


def validate_request_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    path = "status.conditions"
    conditions = new["status"].get("conditions", [])
    types = [each["type"] for each in conditions]
    for index, condition in enumerate(conditions):
        kind, status, here = condition["type"], condition["status"], f"{path}[{index}]"
        if not kind:
            errors.append(required(f"{here}.type", ""))
        known = ("True",) if kind in _ALWAYS_TRUE else ("False", "True", "Unknown")
        if not status:
            errors.append(required(f"{here}.status", ""))
        elif status not in known:
            errors.append(not_supported(f"{here}.status", Enum(status), known))
        if kind in types[:index]:
            errors.append(duplicate(f"{here}.type", Enum(kind)))
    if "Approved" in types and "Denied" in types:
        last = next(kind for kind in reversed(types) if kind in ("Approved", "Denied"))
        errors.append(invalid(path, Enum(last), "Approved and Denied conditions are mutually exclusive"))
    for kind in _ALWAYS_TRUE:
        before = [each for each in old["status"].get("conditions", ()) if each["type"] == kind]
        if types.count(kind) < len(before):
            errors.append(forbidden(path, f'updates may not remove a condition of type "{kind}"'))
    certificate, was = new["status"].get("certificate"), old["status"].get("certificate")
    if was and certificate != was:
        errors.append(forbidden("status.certificate", "updates may not modify existing certificate content"))
    return errors
