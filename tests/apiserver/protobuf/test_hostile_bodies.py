"""Whatever bytes come in, the answer is an object or one sentence, soon."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mooring.apiserver.protobuf import decode
from mooring.kube.status import BadRequestError
from tests.apiserver.protobuf.encoder import body, field, message, varint

RESOURCES = message((1, message((1, "cpu"), (2, message((1, "1"))))))
POD = body(
    "v1",
    "Pod",
    message(
        (1, message((1, "web"), (11, message((1, "app"), (2, "web"))), (8, message((1, 1_700_000_000))))),
        (2, message((2, message((1, "main"), (8, RESOURCES))), (4, 30))),
    ),
)
# Where the object begins; behind it come two empty fields of two bytes.
ENVELOPE = len(body("v1", "Pod", b"")) - 6
# A body as large as the server takes.
LARGE = 3 * 1024 * 1024


def refusal(data: bytes) -> str:
    with pytest.raises(BadRequestError) as caught:
        decode(data)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 300
    return text


def survives(data: bytes) -> None:
    """It is read, or refused in one line without control characters; nothing else may happen."""
    said = ""
    try:
        decode(data)
    except BadRequestError as error:
        said = str(error)
    assert not any(unicodedata.category(char) == "Cc" for char in said)


@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    survives(data)
    survives(b"k8s\0" + data)


@given(st.binary(max_size=200), st.sampled_from(["Pod", "Event", "Secret", "Service", "DeleteOptions"]))
def test_random_bytes_in_a_good_envelope(data: bytes, kind: str) -> None:
    survives(body("v1", kind, data))


@given(st.binary(max_size=300))
def test_random_bytes_in_a_definition(data: bytes) -> None:
    survives(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", data))


@given(st.integers(0, len(POD) - 1), st.integers(0, 255))
@example(8, 10)
@example(12, 27)
def test_one_changed_byte(position: int, value: int) -> None:
    survives(POD[:position] + bytes([value]) + POD[position + 1 :])


@given(st.integers(ENVELOPE + 1, len(POD) - 5))
def test_a_body_cut_short_is_refused(length: int) -> None:
    refusal(POD[:length])


def test_something_else_than_protobuf_says_what_it_must_begin_with() -> None:
    assert refusal(b'{"kind":"Pod"}') == (
        "the body of the request is not a protobuf message: it must begin with the bytes 6b 38 73 00"
    )
    assert refusal(b"") == refusal(b'{"kind":"Pod"}')


def test_a_body_without_a_kind_says_so() -> None:
    assert refusal(b"k8s\0") == "the protobuf body of the request does not say its apiVersion"
    assert refusal(body("v1", "", b"")) == "the protobuf body of the request does not say its kind"


def test_a_kind_that_is_not_known_is_named() -> None:
    assert (
        refusal(body("example.com/v1", "Widget", b"")) == 'no kind "Widget" is registered for version "example.com/v1"'
    )


def test_a_name_of_a_kind_cannot_bring_a_line_of_its_own() -> None:
    text = refusal(body("v1\n", "Pod\x1b[31m\u2028", b""))
    assert text == r'no kind "Pod\x1b[31m\u2028" is registered for version "v1\n"'


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (field(1, 7), "metadata of core.v1.Pod has wire type 0, which is not its own"),
        (field(2, message((4, "30"))), "terminationGracePeriodSeconds of core.v1.PodSpec has wire type 2"),
        (varint(1 << 3 | 2) + varint(2**62), "it ends in the middle of a field"),
        (varint(1 << 3 | 2) + b"\xff" * 11, "is longer than 10 bytes"),
        (varint(99 << 3 | 4), "there is no field with tag 796"),
        (varint(99 << 3 | 3) * 1000, "it ends in the middle of a field"),
        (varint(0), "there is no field with tag 0"),
        (field(1, message((1, b"\xff\xfe"))), "a text in it is not UTF-8"),
        (field(1, message((8, message((1, 2**62))))), "is a time outside of the years 1 to 9999"),
        (field(1, message((17, message((7, message((1, b'{"f:a":'))))))), "the JSON in it cannot be read"),
    ],
)
def test_the_sentence_says_what_is_wrong(raw: bytes, why: str) -> None:
    text = refusal(body("v1", "Pod", raw))
    assert text.startswith("the protobuf body of the request is not a valid Pod: ")
    assert why in text


def test_numbers_that_json_does_not_have_are_refused() -> None:
    version = message((4, message((1, message((9, float("nan")))))))
    raw = message((2, message((7, version))))
    assert "nan is no number in JSON" in refusal(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", raw))


@pytest.mark.parametrize("levels", [150, 5_000, 100_000])
def test_absurd_nesting_is_refused(levels: int) -> None:
    # A schema that negates a schema that negates ...; built inside out, so that building it stays linear.
    heads, size = [], 0
    for _ in range(levels):
        head = varint(28 << 3 | 2) + varint(size)
        heads.append(head)
        size += len(head)
    schema = b"".join(reversed(heads))
    raw = message((2, message((7, message((4, message((1, schema))))))))
    data = body("apiextensions.k8s.io/v1", "CustomResourceDefinition", raw)
    if levels < 200:
        decode(data)
    else:
        assert "nested more than 200 deep" in refusal(data)


@pytest.mark.parametrize("levels", [150, 300, 100_000])
def test_absurd_nesting_of_json_inside_is_refused(levels: int) -> None:
    data = body("apps/v1", "ControllerRevision", message((2, message((1, b"[" * levels + b"]" * levels)))))
    if levels < 200:
        decode(data)
    else:
        assert "deep" in refusal(data)


def test_two_bytes_that_stand_for_a_large_part_cannot_be_sent_a_million_times() -> None:
    items = field(2, b"") * (LARGE // 2)
    started = time.process_time()
    assert "more than 200,000 parts" in refusal(body("batch/v1", "JobList", items))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "part", [field(14, ""), field(11, b""), field(900, 1), varint(900 << 3 | 3) + varint(900 << 3 | 4)]
)
def test_the_largest_body_of_the_smallest_fields_takes_bounded_time(part: bytes) -> None:
    data = body("v1", "Pod", message((1, part * (LARGE // len(part)))))
    started = time.process_time()
    decode(data)
    assert time.process_time() - started < 10
