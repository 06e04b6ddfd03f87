"""The envelope around a protobuf body: four bytes that say what it is, then a message with the kind and the object."""

from typing import Final

from mooring.apiserver.protobuf.tables import message_of
from mooring.apiserver.protobuf.wire import MalformedProtobuf, WireReader
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError

__all__ = ["decode"]


_PREFIX: Final = b"k8s\0"


def decode(body: bytes) -> Object:
    """The object in an `application/vnd.kubernetes.protobuf` body, as it would have come in JSON."""
    if not body.startswith(_PREFIX):
        raise BadRequestError(
            "the body of the request is not a protobuf message: it must begin with the bytes 6b 38 73 00"
        )
    reader = WireReader(body)
    api_version = kind = ""
    try:
        api_version, kind, start, stop = _unwrap(reader, len(_PREFIX), len(body))
        if not api_version or not kind:
            missing = "kind" if api_version else "apiVersion"
            raise BadRequestError(f"the protobuf body of the request does not say its {missing}")
        message = message_of(api_version, kind)
        if message is None:
            raise BadRequestError(f"no kind {go_quote(kind)} is registered for version {go_quote(api_version)}")
        made = reader.message(message, start, stop, 0)
    except MalformedProtobuf as error:
        raise _refusal(kind, str(error)) from None
    except UnicodeDecodeError as error:
        raise _refusal(kind, f"a text in it is not UTF-8: {error.reason} in {error.object[:40]!r}") from None
    except RecursionError:
        raise _refusal(kind, "it is nested too deep") from None
    return {"kind": kind, "apiVersion": api_version, **made}


def _unwrap(reader: WireReader, pos: int, end: int) -> tuple[str, str, int, int]:
    """apiVersion, kind, and where the object begins and ends."""
    api_version, kind, start, stop = "", "", 0, 0
    for number, _, begin, after in reader.fields(pos, end, 0b1110):
        if number == 1:
            for part, _, first, last in reader.fields(begin, after, 0b1110):
                if part == 1:
                    api_version = reader.data[first:last].decode()
                elif part == 2:
                    kind = reader.data[first:last].decode()
        elif number == 2:
            start, stop = begin, after
    return api_version, kind, start, stop


def _refusal(kind: str, why: str) -> BadRequestError:
    return BadRequestError(f"the protobuf body of the request is not a valid {kind or 'object'}: {why}")
