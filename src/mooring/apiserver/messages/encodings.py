"""Answers in another encoding than JSON, for clients that accept no JSON: YAML, and protobuf for built-in kinds.

Handlers answer in JSON, and what they answered is written again. That costs more than answering so in the first place,
for clients of which there are next to none.
"""

from dataclasses import replace
from typing import Any, Final

import msgspec

from mooring.apiserver.messages.negotiation import Encoding
from mooring.apiserver.messages.responses import JSON, Response

__all__ = ["PROTOBUF_STREAM", "reencoded"]

_YAML: Final = b"application/yaml"
_PROTOBUF: Final = b"application/vnd.kubernetes.protobuf"
PROTOBUF_STREAM: Final = _PROTOBUF + b";stream=watch"


def reencoded(response: Response, encoding: Encoding) -> Response:
    """The same answer in the encoding that was negotiated; as it is where it has no such form."""
    if encoding == "json" or response.content_type != JSON:
        return response
    body = response.body if isinstance(response.body, bytes) else b"".join(response.body)
    value: Any = msgspec.json.decode(body)
    if encoding == "yaml":
        from mooring.manifests.emit import to_yaml

        return replace(response, body=to_yaml(value).encode(), content_type=_YAML)
    from mooring.apiserver.protobuf.writing import encode_object

    data = encode_object(value)
    return replace(response, body=body if data is None else data, content_type=JSON if data is None else _PROTOBUF)
