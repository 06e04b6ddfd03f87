"""What drawn expressions could cost, as kube-apiserver 1.35 tells it of the definitions that it refuses.

`python -m tests.conformance.language.record costs` draws and records them.
"""

from __future__ import annotations

from mooring.kube.cel.rules.definitions import rule_errors
from mooring.kube.schemas import structural_schema
from tests.conformance.language.costing import priced
from tests.conformance.language.recordings import read


def test_expressions_have_the_prices_that_they_have_in_kubernetes() -> None:
    wrong = []
    for expression, wide, items, factor in read("costs"):
        schema = structural_schema({"type": "object", "properties": {"p": priced(expression, items, wide)}})
        told = [error.detail for error in rule_errors(schema, "schema") if error.path.endswith("[0].rule")]
        if not told or f"by factor of {factor}x" not in told[0]:
            wrong.append(f"{expression}, {items} times{' without bounds' if wide else ''}: {factor} there, here {told}")
    assert not wrong, "\n".join([f"{len(wrong)} prices differ", *wrong[:20]])
