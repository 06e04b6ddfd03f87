"""Why a step failed, in a word and a sentence that names the way out, from what Helm printed at its end."""

from __future__ import annotations

from typing import Final, NamedTuple

from mooring.features.installation.api.installation import Installation
from mooring.features.installation.effects import CHECK, HELM_MISSING_EXIT_CODE
from mooring.features.installation.helm.commands import by_hand
from mooring.features.installation.steps import PlannedStep
from mooring.runtime.effects import EffectRecord

__all__ = ["HELM_MISSING", "HelmFailure", "failure_of"]

HELM_MISSING: Final = "HelmMissing"
_LATE: Final = ("timed out waiting", "context deadline exceeded")
_REFUSED: Final = " is forbidden: "
_NO_IMPERSONATION: Final = "cannot impersonate resource"
_ABSENT: Final = ("not found in", "no chart version found", "no chart name found")
_LONGEST_LINE: Final = 600


class HelmFailure(NamedTuple):
    reason: str
    message: str


def failure_of(installation: Installation, step: PlannedStep, record: EffectRecord) -> HelmFailure:
    spec, said = installation.spec, _last_words(record)
    again = "it is tried again by itself" if installation.metadata.deleting else "then raise spec.attempt"
    user = "" if spec.requested_by is None else spec.requested_by.username
    if record.exit_code == HELM_MISSING_EXIT_CODE:
        typed = "; ".join(by_hand(spec.repository, spec.charts))
        return HelmFailure(HELM_MISSING, f"{record.message}; install Helm or name it with --helm, or type: {typed}")
    if record.phase == "Cancelled":
        return HelmFailure("Cancelled", f"step {step.name} was cancelled; set spec.suspend to false to go on")
    if _NO_IMPERSONATION in record.output:
        text = f"the controller may not act for {user}: bind ClusterRole mooring:installation to its account; {again}"
        return HelmFailure("ImpersonationForbidden", text)
    if _REFUSED in record.output:
        return HelmFailure("Forbidden", f"{user} may not do what step {step.name} does: {said}")
    if record.phase == "TimedOut" or any(words in record.output for words in _LATE):
        return HelmFailure(
            "TimedOut",
            f"step {step.name} was not done within {step.task.seconds} s: {_not_ready(record)}; mend that or raise "
            f"spec.timeoutSeconds; {again}",
        )
    if step.effect is CHECK and step.chart is not None:
        chart, where = step.chart, f"repository {spec.repository.name} ({spec.repository.url})"
        # A registry names what it does not have as PLACE:TAG, and a tag has no plus.
        tag = f":{chart.version.replace('+', '_')}: not found"
        if any(words in record.output for words in (*_ABSENT, tag)):
            text = f"{where} has no chart {chart.chart} of version {chart.version}; nothing was changed: {said}"
            return HelmFailure("ChartNotFound", text)
        text = f"{where} cannot be read, and nothing was changed: {said}; correct spec.repository.url"
        return HelmFailure("RepositoryUnavailable", text)
    return HelmFailure("HelmFailed", f"step {step.name} failed: {said}; mend it, {again}")


def _last_words(record: EffectRecord) -> str:
    """Helm's error, which may have several lines, or else the last line that says something."""
    lines = [line.strip() for line in record.output.splitlines() if line.strip()]
    errors = [number for number, line in enumerate(lines) if line.startswith("Error: ")]
    told = lines[errors[-1] :] if errors else lines[-1:]
    said = " ".join(told).removeprefix("Error: ") or record.message or f"exit code {record.exit_code}"
    return said if len(said) <= _LONGEST_LINE else f"{said[:_LONGEST_LINE]}..."


def _not_ready(record: EffectRecord) -> str:
    """What was waited for last. Helm 3 tells so while it waits, Helm 4 also in its error, and there with the reason."""
    told = (line.strip().removeprefix("Error: ") for line in record.output.splitlines())
    found = [line for line in told if " is not ready: " in line or " not ready. status: " in line]
    return found[-1] if found else _last_words(record)
