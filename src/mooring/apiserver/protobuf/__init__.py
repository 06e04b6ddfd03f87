"""Request bodies in protobuf: Go clients and kubectl's typed commands send them, and all of them read JSON answers."""

from mooring.apiserver.protobuf.envelope import decode

__all__ = ["decode"]
