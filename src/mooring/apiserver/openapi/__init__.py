"""OpenAPI v3: what `kubectl explain` shows and what clients check manifests against before they send them."""

from mooring.apiserver.openapi.documents import Encoded, document, encoded, index

__all__ = ["Encoded", "document", "encoded", "index"]
