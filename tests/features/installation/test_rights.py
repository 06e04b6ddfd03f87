"""Every right that the controller of installations declares is one that it uses."""

from __future__ import annotations

from mooring.features.installation.controller import CONTROLLER
from mooring.testing.installations import installation
from mooring.testing.rights import recorded_rights
from tests.features.installation.world import InstallationWorld


def test_every_declared_right_of_installations_is_used() -> None:
    with recorded_rights() as used:
        world = InstallationWorld()
        world.put(installation())
        world.run()
        world.delete()
        world.run()
    # Helm acts for others; no write of the controller shows it.
    assert used.unused([CONTROLLER]) == {
        "installation": ["impersonate v1/Group", "impersonate v1/ServiceAccount", "impersonate v1/User"]
    }
