"""A payload comes out of a log as it went in, or not at all."""

from __future__ import annotations

import base64
import gzip
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.notebook_runner.frames import ARTIFACT, RESULT, FrameError, decode, encode

PAYLOAD = bytes(range(256)) * 200


@settings(max_examples=50)
@given(payload=st.binary(max_size=20_000), before=st.text(max_size=40), after=st.text(max_size=40))
def test_a_payload_comes_back_whatever_stands_around_its_frame(payload: bytes, before: str, after: str) -> None:
    log = f"{before}\n{encode(RESULT, payload)}{after}\n"
    assert decode(log, RESULT) == payload


def test_lines_are_short_enough_for_every_container_runtime() -> None:
    assert max(map(len, encode(ARTIFACT, PAYLOAD).splitlines())) <= 4000


def test_the_same_payload_gives_the_same_frame() -> None:
    assert encode(RESULT, PAYLOAD) == encode(RESULT, PAYLOAD)
    packed = base64.b64decode("".join(encode(RESULT, PAYLOAD).splitlines()[1:-1]))
    assert gzip.decompress(packed) == PAYLOAD


def test_frames_of_two_names_stand_in_one_log() -> None:
    log = encode(ARTIFACT, b"notebook") + "a line between\r\n" + encode(RESULT, b"passed")
    assert (decode(log, ARTIFACT), decode(log, RESULT)) == (b"notebook", b"passed")


def test_a_log_with_carriage_returns_is_read() -> None:
    assert decode(encode(RESULT, PAYLOAD).replace("\n", "\r\n"), RESULT) == PAYLOAD


@pytest.mark.parametrize("missing_lines", range(1, 4))
def test_a_frame_that_ends_early_is_no_result(missing_lines: int) -> None:
    lines = encode(RESULT, hashlib.sha512(b"x").digest() * 100).splitlines()
    with pytest.raises(FrameError):
        decode("\n".join(lines[:-missing_lines]), RESULT)


def test_an_earlier_frame_never_stands_in_for_a_broken_last_one() -> None:
    log = encode(RESULT, b"passed") + encode(RESULT, b"failed").partition("-----END")[0]
    with pytest.raises(FrameError, match="has no end"):
        decode(log, RESULT)


def test_a_payload_that_was_exchanged_is_refused() -> None:
    head = encode(RESULT, b"failed").splitlines()[0]
    forged = [head, *encode(RESULT, b"passed").splitlines()[1:]]
    with pytest.raises(FrameError, match="digest"):
        decode("\n".join(forged), RESULT)


def test_a_payload_larger_than_claimed_is_not_unpacked_whole() -> None:
    lines = encode(RESULT, b"\0" * 50_000_000).splitlines()
    lines[0] = lines[0].replace("50000000", "10")
    with pytest.raises(FrameError, match="other than the 10 bytes"):
        decode("\n".join(lines), RESULT)


@pytest.mark.parametrize("log", ["", "Traceback (most recent call last):\n", encode(ARTIFACT, b"x")])
def test_a_log_without_the_frame_says_so(log: str) -> None:
    with pytest.raises(FrameError, match="no RESULT frame"):
        decode(log, RESULT)
