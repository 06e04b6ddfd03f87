"""The one error that reading a manifest can end in: a sentence that says which file, document and line."""

from __future__ import annotations

from mooring.kube.errors import MooringError


class ManifestError(MooringError):
    """A file is not what it should be. Its text is one line: `cluster.yaml: document 3: line 12: what is wrong`."""

    def __init__(
        self,
        problem: str,
        *,
        file: str = "",
        document: int | None = None,
        index: int | None = None,
        line: int | None = None,
    ) -> None:
        self.problem, self.file, self.document, self.index, self.line = problem, file, document, index, line
        place = [file] if file else []
        if document is not None:
            place.append(f"document {document}")
        if index is not None:
            place.append(f"item {index}")
        if line is not None:
            place.append(f"line {line}")
        super().__init__(": ".join([*place, " ".join(problem.split())]))
