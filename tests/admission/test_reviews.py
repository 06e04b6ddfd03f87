"""What one end of a review writes, the other reads."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from mooring.admission.conversions import (
    ConversionFailed,
    MalformedConversion,
    conversion_version,
    convert_review,
    encode_conversion,
    read_conversion,
)
from mooring.admission.diff import json_diff
from mooring.admission.refusals import denial
from mooring.admission.reviews import (
    BadReview,
    GroupVersionKind,
    GroupVersionResource,
    ReviewRequest,
    UserInfo,
    decode_request,
    encode_request,
    encode_response,
    read_verdict,
    review_version,
    strip_server_fields,
)
from mooring.kube.objects import Object

POD: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u", "creationTimestamp": "t"}}
ASKED = ReviewRequest(
    uid="1",
    kind=GroupVersionKind("", "v1", "Pod"),
    resource=GroupVersionResource("", "v1", "pods"),
    operation="CREATE",
    requestKind=GroupVersionKind("", "v1", "Pod"),
    requestResource=GroupVersionResource("", "v1", "pods"),
    name="p",
    namespace="default",
    userInfo=UserInfo("ann", groups=("system:authenticated",)),
    object=POD,
    oldObject=None,
    dryRun=False,
    options=None,
)


def test_a_webhook_reads_what_the_server_asks() -> None:
    assert decode_request(encode_request("v1", ASKED)) == ASKED


def test_a_request_is_spelt_as_a_real_server_spells_it() -> None:
    assert json.loads(encode_request("v1beta1", ASKED)) == {
        "apiVersion": "admission.k8s.io/v1beta1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "1",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "requestResource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "name": "p",
            "namespace": "default",
            "userInfo": {"username": "ann", "groups": ["system:authenticated"]},
            "object": POD,
            "oldObject": None,
            "dryRun": False,
            "options": None,
        },
    }


def test_a_server_reads_what_the_webhook_answers() -> None:
    patch = json_diff(POD, strip_server_fields(POD))
    verdict = read_verdict(encode_response("1", allowed=True, patch=patch, warnings=["w"]), "1", "v1", mutates=True)
    assert (verdict.allowed, verdict.patch, verdict.warnings) == (True, patch, ("w",))
    refused = encode_response("1", allowed=False, status={"message": "no", "code": 403})
    assert json.loads(refused)["response"] == {"uid": "1", "allowed": False, "status": {"message": "no", "code": 403}}
    assert read_verdict(refused, "1", "v1", mutates=True) == (False, None, {"message": "no", "code": 403}, (), {})


def test_an_answer_that_does_not_say_whether_is_a_refusal() -> None:
    assert not read_verdict(b'{"response": {}}', "1", "v1beta1", mutates=False).allowed


def test_the_first_version_that_both_know_is_spoken() -> None:
    assert review_version(("v7", "v1beta1", "v1")) == "v1beta1"
    with pytest.raises(BadReview, match="does not accept known AdmissionReview versions"):
        review_version(("v7",))


@pytest.mark.parametrize("body", [b"", b"[]", b'{"response": 3}', b"\xff\xfe"])
def test_an_answer_that_cannot_be_read_is_no_verdict(body: bytes) -> None:
    with pytest.raises(BadReview):
        read_verdict(body, "u", "v1", mutates=True)


def test_old_reviews_are_read_with_less_care() -> None:
    body = b'{"response": {"allowed": true, "patch": "W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL2EifV0="}}'
    assert read_verdict(body, "u", "v1beta1", mutates=True).patch == [{"op": "remove", "path": "/a"}]


def test_a_refusal_has_the_code_of_one() -> None:
    assert denial("h", {"code": 201, "message": "no"}).code == 400
    assert denial("h", {"code": "x"}).code == 400
    assert denial("h", None).status()["message"] == 'admission webhook "h" denied the request without explanation'


WIDGET: Object = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "uid": "u"}, "size": 1}


def test_a_conversion_comes_back_as_it_was_made() -> None:
    functions = {("example.com", "Widget"): lambda obj, wanted: {**obj, "apiVersion": wanted, "length": obj["size"]}}
    answered = convert_review(encode_conversion("v1", "1", [WIDGET], "example.com/v2"), functions)
    assert read_conversion(answered, "1", "v1", [WIDGET], "example.com/v2") == [
        {**WIDGET, "apiVersion": "example.com/v2", "length": 1}
    ]


def test_a_conversion_that_nobody_makes_has_failed() -> None:
    answered = convert_review(encode_conversion("v1", "1", [WIDGET], "example.com/v2"), {})
    with pytest.raises(ConversionFailed, match="no conversion is registered for Widget"):
        read_conversion(answered, "1", "v1", [WIDGET], "example.com/v2")
    with pytest.raises(ConversionFailed, match="no supported conversion review versions"):
        conversion_version(["v7"])


def test_a_conversion_may_not_rename() -> None:
    renamed = {**WIDGET, "apiVersion": "example.com/v2", "metadata": {"name": "x", "uid": "u"}}
    response = {"uid": "1", "result": {"status": "Success"}, "convertedObjects": [renamed]}
    answered = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}
    with pytest.raises(MalformedConversion, match="must have the same name: w != x"):
        read_conversion(json.dumps(answered).encode(), "1", "v1", [WIDGET], "example.com/v2")


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def answered(**response: str) -> bytes:
    """A review that answers the first question, with some members as they are written."""
    members = "".join(f',"{name}":{text}' for name, text in response.items())
    head = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"1","allowed":true'
    return f"{head}{members}}}}}".encode()


def test_an_answer_that_is_nested_without_reason_is_none() -> None:
    with pytest.raises(BadReview, match="exceeded max depth: objects and lists may be nested 200 deep"):
        read_verdict(answered(status=nested(100_000)), "1", "v1", mutates=True)
    # What no status has is not kept, however deep it is.
    assert read_verdict(answered(status=nested(250)), "1", "v1", mutates=True).status == {}


def test_a_patch_that_is_nested_without_reason_is_none() -> None:
    patch = b64encode(f'[{{"op":"add","path":"/a","value":{nested(100_000)}}}]'.encode()).decode()
    with pytest.raises(BadReview, match="received undecodable patch in webhook response: exceeded max depth"):
        read_verdict(answered(patchType='"JSONPatch"', patch=f'"{patch}"'), "1", "v1", mutates=True)


@pytest.mark.parametrize("levels", [250, 100_000])
def test_a_converted_object_that_is_nested_without_reason_is_none(levels: int) -> None:
    before: Object = {"apiVersion": "g/v1", "kind": "W", "metadata": {"name": "w"}}
    answer = (
        '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"1",'
        '"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"g/v2","kind":"W","metadata":{"name":"w"},'
        f'"spec":{nested(levels)}}}]}}}}'
    ).encode()
    with pytest.raises(ConversionFailed, match="exceeded max depth: objects and lists may be nested 200 deep"):
        read_conversion(answer, "1", "v1", [before], "g/v2")


def test_questions_that_are_nested_without_reason_are_none() -> None:
    asked = f'{{"apiVersion":"v1","kind":"x","request":{nested(100_000)}}}'.encode()
    with pytest.raises(BadReview, match="the body is no AdmissionReview: exceeded max depth"):
        decode_request(asked)
    with pytest.raises(BadReview, match="the body is no ConversionReview: exceeded max depth"):
        convert_review(asked, {})
