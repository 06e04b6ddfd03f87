"""Node selectors: terms of label and field conditions, any of which admits a node.

They differ from label selectors in three ways that decide where pods go: Gt and Lt exist; a term without conditions
matches no node; and a term that cannot be read (a Gt against "many") is passed over as long as another term matches.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast, get_args

from mooring.kube.errors import SelectorError, invalid, not_supported
from mooring.kube.selectors import Labels, Operator, Requirement, Selector, make_requirement

__all__ = ["NodeSelector", "NodeSelectorTerm", "node_requirement", "node_selector", "node_selector_term"]

_OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
_NAME_FIELD: Final = "metadata.name"


class NodeSelectorTerm(NamedTuple):
    """Conditions that must all hold. `error` says why the term cannot be read; such a term matches nothing."""

    labels: Selector
    fields: Selector
    empty: bool
    error: str = ""

    def matches(self, labels: Labels, name: str) -> bool:
        if self.empty or self.error:
            return False
        return self.labels.matches(labels) and self.fields.matches({_NAME_FIELD: name})


class NodeSelector(NamedTuple):
    """Terms of which one must match."""

    terms: tuple[NodeSelectorTerm, ...]

    def matches(self, labels: Labels, name: str) -> bool:
        return any(term.matches(labels, name) for term in self.terms)

    @property
    def errors(self) -> list[str]:
        return [term.error for term in self.terms if term.error]


def node_requirement(expression: Mapping[str, Any], path: str = "") -> Requirement:
    """Compile one of a term's matchExpressions. Raises SelectorError."""
    op = expression.get("operator") or ""
    if op not in _OPERATORS:
        raise SelectorError(str(not_supported(f"{path}.operator" if path else "operator", op, _OPERATORS)))
    return make_requirement(expression.get("key") or "", cast(Operator, op), expression.get("values"), path)


def _field_requirement(expression: Mapping[str, Any], path: str) -> Requirement:
    op = expression.get("operator") or ""
    values: Sequence[str] = expression.get("values") or ()
    if op not in ("In", "NotIn"):
        raise SelectorError(str(not_supported(f"{path}.operator", op, ("In", "NotIn"))))
    if len(values) != 1:
        raise SelectorError(str(invalid(f"{path}.values", expression.get("values"), "must have one element")))
    return Requirement(expression.get("key") or "", cast(Operator, op), (values[0],))


def node_selector_term(term: Mapping[str, Any]) -> NodeSelectorTerm:
    """Compile a term; what cannot be read is kept as its `error`, because another term may still match."""
    expressions: Iterable[Mapping[str, Any]] = term.get("matchExpressions") or ()
    fields: Iterable[Mapping[str, Any]] = term.get("matchFields") or ()
    if not expressions and not fields:
        return NodeSelectorTerm(Selector(), Selector(), empty=True)
    try:
        labels = Selector(node_requirement(e, f"matchExpressions[{i}]") for i, e in enumerate(expressions))
        named = Selector(_field_requirement(f, f"matchFields[{i}]") for i, f in enumerate(fields))
        return NodeSelectorTerm(labels, named, empty=False)
    except SelectorError as error:
        return NodeSelectorTerm(Selector(), Selector(), empty=False, error=str(error))


def node_selector(selector: Mapping[str, Any]) -> NodeSelector:
    """Compile a NodeSelector, as in requiredDuringSchedulingIgnoredDuringExecution."""
    return NodeSelector(tuple(map(node_selector_term, selector.get("nodeSelectorTerms") or ())))
