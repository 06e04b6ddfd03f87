"""Lists: current or at an earlier revision, selected, in pages that together are consistent.

A page's continue token names the revision of the first page and the last key shown. Later pages are cut from the list
as it was then, as long as the history has it; after that the client gets 410 with a token that goes on with the current
list.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator
from typing import Final, NamedTuple, TypedDict

from mooring.kube.errors import FieldError, SelectorError, forbidden, go_quote, not_supported
from mooring.kube.objects import Object
from mooring.kube.selectors import Selector, parse_selector
from mooring.kube.status import BadRequestError, ExpiredError, InvalidError, TooLargeVersionError
from mooring.registry.core import Core
from mooring.registry.field_selectors import FieldSelector, parse_field_selector
from mooring.registry.history import order
from mooring.registry.pages import decode_token, encode_token, page_at
from mooring.registry.resources import Resource

__all__ = [
    "ListOptions",
    "ListResult",
    "Matcher",
    "check_watch_options",
    "list_slices",
    "matcher",
    "parse_revision",
]

Matcher = Callable[[Object], bool]

# Objects that are selected or converted in a slice: a millisecond or two.
_SLICE_OBJECTS: Final = 500

_NO_LABELS: Final[dict[str, str]] = {}
# No namespace is called that.
_NOWHERE: Final = "/"
_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


class ListOptions(TypedDict, total=False):
    """What a list may be asked with."""

    label_selector: str | Selector | None
    field_selector: str | None
    limit: int | None
    continue_: str | None
    resource_version: str | None
    resource_version_match: str | None
    send_initial_events: bool | None


class ListResult(NamedTuple):
    """One page. The objects are shared with the store and must not be mutated."""

    items: list[Object]
    resource_version: str
    continue_: str = ""
    remaining: int | None = None


def parse_revision(text: str | None, field: str = "resourceVersion") -> int:
    """The revision a request names; 0 for none."""
    if not text:
        return 0
    whole = text.isascii() and text.isdecimal()
    if whole and (number := int(text)) < 2**64:
        return number
    why = f"strconv.ParseUint: parsing {go_quote(text)}: {'value out of range' if whole else 'invalid syntax'}"
    raise BadRequestError(f"{field}: Invalid value: {go_quote(text)}: {why}")


def matcher(
    core: Core, resource: Resource, label_selector: str | Selector | None, field_selector: str | None
) -> tuple[Matcher | None, FieldSelector | None]:
    """The test that a request's selectors ask for, None when everything passes; and the field selector itself."""
    labels, fields = _parse_labels(label_selector), None
    if field_selector:
        selectable = core.custom[resource.api_version, resource.kind].selectable if resource.custom else ()
        fields = parse_field_selector(field_selector, resource, selectable)
    if labels is None:
        return (None if fields is None else fields.matches), fields
    by_label = labels.matches

    def match_labels(obj: Object) -> bool:
        return by_label(obj["metadata"].get("labels") or _NO_LABELS)

    if fields is None:
        return match_labels, None
    by_field = fields.matches
    return (lambda obj: match_labels(obj) and by_field(obj)), fields


def _parse_labels(selector: str | Selector | None) -> Selector | None:
    if isinstance(selector, str):
        try:
            selector = parse_selector(selector)
        except SelectorError as error:
            raise BadRequestError(str(error)) from None
    return None if selector is None or selector.empty else selector


def list_slices(
    core: Core, resource: Resource, namespace: str | None, options: ListOptions
) -> Generator[None, None, ListResult]:
    """The list, in slices of work: other requests may be served, and may write, whenever it yields.

    It is that of the moment in which it began; objects are never changed in place.
    """
    resource_version, continue_ = options.get("resource_version"), options.get("continue_")
    match, limit = options.get("resource_version_match"), options.get("limit")
    matches, fields = matcher(core, resource, options.get("label_selector"), options.get("field_selector"))
    _check_options(resource_version, match, continue_, options.get("send_initial_events"))
    if not resource.namespaced:
        namespace = None
    now = core.storage.revision
    wanted, start = _wanted(resource_version), ""
    if continue_:
        revision, start = decode_token(continue_)
        if wanted:
            raise BadRequestError("specifying resource version is not allowed when using continue")
        revision = revision if revision > 0 else now
    elif match == "Exact":
        revision = wanted
    else:
        revision = now
    if max(wanted, revision) > now:
        raise TooLargeVersionError.of(max(wanted, revision), now)
    # What is read at any revision is read whole, as from the cache of a real server.
    whole = resource_version == "0" and not continue_
    if limit and limit > 0 and not whole and not _names_one(resource, namespace, fields):
        return _page(core, resource, namespace, fields, matches, limit, revision, start, continue_)
    items = _items_at(core, resource, namespace, fields, revision, now, start, continue_)
    if start:
        items = items[bisect_right(items, start, key=order) :]
    load = core.loader(resource)
    if matches is None and load is None:
        return ListResult(items, str(revision))
    found: list[Object] = []
    for at in range(0, len(items), _SLICE_OBJECTS):
        if at:
            yield
        some = items[at : at + _SLICE_OBJECTS]
        if matches is not None:
            some = [item for item in some if matches(item)]
        found += some if load is None else [load(item) for item in some]
    return ListResult(found, str(revision))


def _check_options(
    version: str | None, match: str | None, continue_: str | None, send_initial_events: bool | None
) -> None:
    errors: list[FieldError] = []
    path = "resourceVersionMatch"
    if match:
        if not version:
            errors.append(forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
        if continue_:
            errors.append(forbidden(path, "resourceVersionMatch is forbidden when continue is provided"))
        if match not in ("Exact", "NotOlderThan"):
            errors.append(not_supported(path, match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and version == "0":
            detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            errors.append(forbidden(path, detail))
    if send_initial_events is not None:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    if errors:
        raise InvalidError("ListOptions", "meta.k8s.io", "", errors)


def _wanted(version: str | None) -> int:
    try:
        return parse_revision(version)
    except BadRequestError as error:
        raise BadRequestError(f"invalid resource version: {error}") from None


def check_watch_options(send_initial_events: bool | None, match: str | None) -> None:
    """The options of a watch must go together."""
    errors: list[FieldError] = []
    path = "resourceVersionMatch"
    if send_initial_events is not None and match != "NotOlderThan":
        errors.append(forbidden(path, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if match:
        if send_initial_events is None:
            detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            errors.append(forbidden(path, detail))
        if match != "NotOlderThan":
            errors.append(not_supported(path, match, ("NotOlderThan",)))
    if errors:
        raise InvalidError("ListOptions", "meta.k8s.io", "", errors)


def _items_at(
    core: Core,
    resource: Resource,
    namespace: str | None,
    fields: FieldSelector | None,
    revision: int,
    now: int,
    start: str,
    continue_: str | None,
) -> list[Object]:
    namespace = _narrowed(resource, namespace, fields)
    if namespace == _NOWHERE:
        return []
    if revision == now:
        if fields is not None and fields.name is not None and (namespace is not None or not resource.namespaced):
            found = core.find(resource, namespace or "", fields.name)
            return [] if found is None else [found]
        return core.storage.items(resource.store, namespace)
    try:
        return core.history(resource.store).undo(core.storage.items(resource.store, namespace), revision, namespace)
    except ExpiredError as error:
        raise _expired(error, continue_, start) from None


def _page(
    core: Core,
    resource: Resource,
    namespace: str | None,
    fields: FieldSelector | None,
    matches: Matcher | None,
    limit: int,
    revision: int,
    start: str,
    continue_: str | None,
) -> ListResult:
    narrowed = _narrowed(resource, namespace, fields)
    if narrowed == _NOWHERE:
        return ListResult([], str(revision))
    try:
        page = page_at(core, resource, narrowed, revision, start, limit, matches)
    except ExpiredError as error:
        raise _expired(error, continue_, start) from None
    token = encode_token(revision, page.end) if page.end else ""
    return ListResult(_loaded(core, resource, page.items), str(revision), token, page.remaining)


def _narrowed(resource: Resource, namespace: str | None, fields: FieldSelector | None) -> str | None:
    """The namespace that a request is about, by its path and its field selector."""
    if fields is None or fields.namespace is None or not resource.namespaced:
        return namespace
    return fields.namespace if namespace in (None, fields.namespace) else _NOWHERE


def _names_one(resource: Resource, namespace: str | None, fields: FieldSelector | None) -> bool:
    """Whether a field selector leaves one object at most."""
    if fields is None or fields.name is None:
        return False
    return not resource.namespaced or namespace is not None or fields.namespace is not None


def _expired(error: ExpiredError, continue_: str | None, start: str) -> ExpiredError:
    """The 410 of a later page, with a token that goes on with the current list."""
    return ExpiredError(_TOO_OLD, continue_=encode_token(-1, start)) if continue_ else error


def _loaded(core: Core, resource: Resource, items: list[Object]) -> list[Object]:
    load = core.loader(resource)
    return items if load is None else [load(item) for item in items]
