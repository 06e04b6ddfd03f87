"""Approving, signing and cleaning: what is decided on a request."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.api.certificates.x509_requests import CLIENT, KUBELET_SERVING
from mooring.api.kinds import Key
from mooring.builtin.certificates import approver, cleaner, signer
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Delete, Patch
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST
from tests.builtin.certificates.requests import judged, pem, signing_request

KEY = Key("", "csr")
SERVING = ("digital signature", "server auth")


def reviews(request: Object) -> list[tuple[str, ...]]:
    """The rights that are asked for, in each effect that is decided."""
    decision = approver.reconcile(KEY, view_of([request]), NOON)
    return [run.arguments.subresources for run in decision.effects]


def test_a_kubelet_that_asks_for_itself_needs_one_of_two_rights() -> None:
    assert reviews(signing_request(username="system:node:a")) == [("selfnodeclient", "nodeclient")]


def test_a_kubelet_that_is_not_yet_known_needs_the_right_for_nodes() -> None:
    assert reviews(signing_request(username="system:bootstrap:abcdef")) == [("nodeclient",)]


@pytest.mark.parametrize(
    "request_",
    [
        signing_request(pem(dns=["a"]), KUBELET_SERVING, SERVING, username="system:node:a"),
        signing_request(signer=CLIENT, username="system:node:a"),
        signing_request(pem("system:node:a", ("system:masters",)), username="system:node:a"),
        signing_request(usages=("client auth",), username="system:node:a"),
        judged(signing_request(username="system:node:a"), "Denied"),
        judged(signing_request(username="system:node:a"), "Approved"),
    ],
)
def test_nothing_else_is_approved(request_: Object) -> None:
    assert reviews(request_) == []


@pytest.mark.parametrize(
    ("controller", "request_"),
    [
        (approver.CONTROLLER, signing_request(username="system:node:a")),
        (signer.CONTROLLER, judged(signing_request(), "Approved")),
    ],
    ids=["a review", "a signature"],
)
def test_what_ends_with_nothing_is_begun_again_a_minute_later(controller: Controller, request_: Object) -> None:
    view = view_of([request_])
    (first,) = controller.reconcile(KEY, view, NOON).effects
    assert view.polls == {NOON + timedelta(minutes=1)}
    later = NOON + timedelta(minutes=1)
    (again,) = controller.reconcile(KEY, view_of([request_], later), later).effects
    assert again.id != first.id


def test_what_is_approved_is_signed_for_as_long_as_was_asked() -> None:
    approved = judged(signing_request(expirationSeconds=3600), "Approved")
    [run] = signer.reconcile(KEY, view_of([approved]), NOON).effects
    assert run.arguments.seconds == 3600
    assert signer.lifetime(None) == signer.lifetime(10**9) == 365 * 86400
    assert signer.lifetime(1) == 600


@pytest.mark.parametrize(
    "request_",
    [
        signing_request(),
        judged(signing_request(), "Denied"),
        judged(signing_request(), "Approved", "Failed"),
        judged(signing_request(), "Approved", certificate="eA=="),
        judged(signing_request(signer="example.com/other"), "Approved"),
    ],
)
def test_nothing_else_is_signed(request_: Object) -> None:
    decision = signer.reconcile(KEY, view_of([request_]), NOON)
    assert decision.empty
    assert not decision.effects


def test_an_approved_request_that_its_signer_does_not_sign_has_failed() -> None:
    wrong = judged(signing_request(pem("ada")), "Approved")
    decision = signer.reconcile(KEY, view_of([wrong]), NOON)
    assert not decision.effects
    [write] = decision.status
    assert isinstance(write, Patch)
    failed = write.body["status"]["conditions"][-1]
    assert (failed["type"], failed["reason"]) == ("Failed", "SignerValidationFailure")
    assert failed["message"] == "subject common name does not begin with system:node:"


@pytest.mark.parametrize(
    ("request_", "hours"),
    [
        (signing_request(), 23),
        (judged(signing_request(), "Approved"), 23.5),
        (judged(signing_request(), "Approved", certificate="eA=="), 0.5),
        (judged(signing_request(), "Denied"), 0.5),
        (judged(signing_request(), "Approved", "Failed"), 0.5),
    ],
)
def test_requests_are_kept_for_an_hour_after_their_answer_or_for_a_day_without_one(
    request_: Object, hours: float
) -> None:
    for early, gone in ((timedelta(seconds=1), ()), (timedelta(0), (Delete(CERTIFICATE_SIGNING_REQUEST, KEY),))):
        now = NOON + timedelta(hours=hours) - early
        assert cleaner.reconcile(KEY, view_of([request_], now), now).children == gone


def test_an_effect_without_records_goes_on_until_its_result_is_there() -> None:
    simulation = Simulation([approver.CONTROLLER, signer.CONTROLLER])
    registry = simulation.registry
    resource = registry.resource("certificates.k8s.io/v1", "CertificateSigningRequest")
    registry.create(resource, signing_request(), now=simulation.now, user="system:node:a", groups=("system:nodes",))
    simulation.run()
    [found] = registry.list(resource).items
    assert found["status"]["conditions"][0]["reason"] == "AutoApproved"
    assert found["status"]["certificate"]
    assert "effects" not in found["status"]
