"""Kinds that access rules name and of which there are no objects: signers, and reviews, which are answered only."""

from __future__ import annotations

from typing import Final

from mooring.api.kinds import Kind
from mooring.api.meta import Bare

# Who may approve requests to a signer, or sign for it.
SIGNER: Final = Kind("certificates.k8s.io/v1", "Signer", Bare)
SUBJECT_ACCESS_REVIEW: Final = Kind("authorization.k8s.io/v1", "SubjectAccessReview", Bare)
