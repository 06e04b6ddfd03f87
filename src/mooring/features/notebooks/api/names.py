"""Names of the API of notebook validation: the group, the labels of pods, and the annotations that people write."""

from __future__ import annotations

from typing import Final

GROUP: Final = "mlops.mlops.dev"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
KIND: Final = "NotebookValidationJob"
PLURAL: Final = "notebookvalidationjobs"

# Labels of validation pods. People select on them, also in the anti-affinity of other jobs.
APP_LABEL: Final = "app"
APP: Final = "jupyter-notebook-validator"
JOB_LABEL: Final = "notebookvalidationjob"
_OPERATOR: Final = "jupyter-notebook-validator-operator"


def pod_labels(job: str) -> dict[str, str]:
    """The five labels of a validation pod."""
    return {
        APP_LABEL: APP,
        JOB_LABEL: job,
        "app.kubernetes.io/name": _OPERATOR,
        "app.kubernetes.io/component": "validation-pod",
        "app.kubernetes.io/managed-by": _OPERATOR,
    }


# Annotations that say how outputs are compared, for a job without comparisonConfig.
COMPARISON_STRATEGY: Final = "mlops.dev/comparison-strategy"
NUMERIC_TOLERANCE: Final = "mlops.dev/numeric-tolerance"
IGNORE_TIMESTAMPS: Final = "mlops.dev/ignore-timestamps"
IGNORE_EXECUTION_COUNT: Final = "mlops.dev/ignore-execution-count"
IGNORE_EXECUTION_COUNTS: Final = "mlops.dev/ignore-execution-counts"
TIMESTAMP_PATTERNS: Final = "mlops.dev/timestamp-patterns"
