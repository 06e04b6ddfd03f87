"""All slices of devices: by node, and with a version that tells whoever remembers something that it may be over."""

from __future__ import annotations

import msgspec

from mooring.api.resource.views import ResourceSlice
from mooring.placement.devices.inventory import DeviceInventory
from mooring.testing.devices import resource_slice


def test_every_change_of_the_slices_gives_them_another_version() -> None:
    inventory, versions = DeviceInventory(), [0]
    offer = msgspec.convert(resource_slice("n0"), ResourceSlice)
    name = offer.metadata.name
    for is_there in (True, True, False):
        if is_there:
            inventory.set_slice(offer)
        else:
            inventory.remove_slice(name)
        versions.append(inventory.version)
    assert versions == sorted(set(versions))
    assert not list(inventory.slices())
    inventory.remove_slice(name)
    assert inventory.version == versions[-1]
