"""OpenAPI v3 and v2: what `kubectl explain` shows and what clients check manifests against before they send them."""

from mooring.apiserver.openapi.documents import (
    Encoded,
    document,
    encoded,
    index,
    make_slices,
    swagger_json,
    swagger_protobuf,
)

__all__ = ["Encoded", "document", "encoded", "index", "make_slices", "swagger_json", "swagger_protobuf"]
