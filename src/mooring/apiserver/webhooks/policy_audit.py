"""What ValidatingAdmissionPolicies have written into the audit log of a request: failures, and their annotations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from mooring.admission.policies.policy import PolicyBinding

if TYPE_CHECKING:
    from mooring.admission.policies.decisions import PolicyFailure

__all__ = ["PolicyAudit"]

_FAILURE: Final = "validation.policy.admission.k8s.io/validation_failure"


class PolicyAudit:
    """Collects it, from every binding of every policy."""

    def __init__(self) -> None:
        self._failure = ""
        # By key. Bindings with parameters of their own may say different things.
        self._noted: dict[str, list[str]] = {}

    def add(self, policy: str, noted: Iterable[Mapping[str, str]]) -> None:
        for each in noted:
            for key, text in each.items():
                texts = self._noted.setdefault(f"{policy}/{key}", [])
                if text not in texts:
                    texts.append(text)

    def failed(self, policy: str, binding: PolicyBinding, failure: PolicyFailure) -> None:
        """Of several failures the log has the first one only."""
        if not self._failure:
            told = {
                "message": failure.message,
                "policy": policy,
                "binding": binding.name,
                "expressionIndex": failure.place,
                "validationActions": list(binding.actions),
            }
            self._failure = msgspec.json.encode([told]).decode()

    def publish(self, annotations: dict[str, str]) -> None:
        if self._failure:
            annotations.setdefault(_FAILURE, self._failure)
        for key, texts in self._noted.items():
            annotations.setdefault(key, ", ".join(texts))
