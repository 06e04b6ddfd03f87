"""Constraints between the devices of a claim: that all have the same value of an attribute."""

from __future__ import annotations

from mooring.api.resource.views import DeviceAttribute, DeviceConstraint
from mooring.placement.devices.inventory import DeviceInfo


class MatchAttribute:
    """Devices added one by one; each is refused that has not got the value of the first one.

    What is remembered is the value and how many devices there are, so devices go in the reverse order of their coming.
    """

    def __init__(self, constraint: DeviceConstraint) -> None:
        assert constraint.match_attribute is not None
        self._name = constraint.match_attribute
        self._requests = frozenset(constraint.requests or ())
        self._value: DeviceAttribute | None = None
        self._devices = 0

    def add(self, request: str, alternative: str, device: DeviceInfo) -> bool:
        """Whether the device may be there too; `alternative` is empty where the request has none."""
        if not self._concerns(request, alternative):
            return True
        value = attribute_of(device, self._name)
        if value is None:
            return False
        if self._devices == 0:
            self._value = value
        elif value != self._value:
            return False
        self._devices += 1
        return True

    def remove(self, request: str, alternative: str) -> None:
        if self._concerns(request, alternative):
            self._devices -= 1

    def _concerns(self, request: str, alternative: str) -> bool:
        names = self._requests
        return not names or request in names or bool(alternative and f"{request}/{alternative}" in names)


def attribute_of(device: DeviceInfo, name: str) -> DeviceAttribute | None:
    """An attribute by its full name; those of the driver's own domain may be written without it."""
    found = device.attributes.get(name)
    if found is not None:
        return found
    domain, slash, identifier = name.partition("/")
    return device.attributes.get(identifier) if slash and domain == device.id.driver else None
