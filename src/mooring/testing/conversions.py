"""The test that comes with every custom resource of several versions: nothing is lost on the way there and back.

def test_gadgets_keep_everything() -> None:
    conversions_round_trip(GADGETS)
"""

from __future__ import annotations

from copy import deepcopy
from itertools import permutations
from typing import Final

from hypothesis import HealthCheck, given, settings

from mooring.api.crds.resource import CustomResource, Version
from mooring.kube.objects import Object
from mooring.kube.schemas import prune, validate
from mooring.testing.schemas import custom_objects, halves_of, version_schema

__all__ = ["conversions_round_trip"]


EXAMPLES: Final = 50


def conversions_round_trip(resource: CustomResource, *, examples: int = EXAMPLES) -> int:
    """Random objects of every version become every other version and come back as they were.

    What they are in between must be valid there, because nobody could write it back otherwise, and what they were made
    from must not have been touched. Halves of objects must come back too: API servers convert them to find out who owns
    what. Gives the number of pairs of versions that were tried.
    """
    pairs = list(permutations(resource.versions, 2)) if resource.is_converted else []
    for source, target in pairs:
        _round_trips(resource, source, target, examples)
    return len(pairs)


def _round_trips(resource: CustomResource, source: Version, target: Version, examples: int) -> None:
    schema = version_schema(resource, target.name)
    pair = f"{resource.kind} from {source.name} to {target.name}"
    tried = settings(max_examples=examples, deadline=None, suppress_health_check=(HealthCheck.too_slow,))
    objects = custom_objects(resource, source.name)

    def there_and_back(obj: Object) -> Object:
        given = deepcopy(obj)
        there = resource.convert(obj, resource.api_version(target))
        assert obj == given, f"{pair}: the conversion changed what it was given"
        back = resource.convert(there, resource.api_version(source))
        assert back == obj, f"{pair}: the object came back as another one"
        return there

    @tried
    @given(objects)
    def whole_objects(obj: Object) -> None:
        there = there_and_back(obj)
        assert prune(schema, there) == there, f"{pair}: the conversion makes fields that {target.name} does not have"
        problems = validate(schema, there)
        assert not problems, f"{pair}: the conversion makes what is invalid in {target.name}: {problems[0]}"

    @tried
    @given(halves_of(objects))
    def halves(obj: Object) -> None:
        there_and_back(obj)

    whole_objects()
    halves()
