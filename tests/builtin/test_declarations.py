"""What the controllers of the control plane declare: what they read and may write, who tells their events, and more."""

from __future__ import annotations

from mooring.builtin.controllers import control_plane
from tests.support.declared import declared
from tests.support.traces.golden import agrees


def test_each_controller_declares_what_it_did() -> None:
    story = "".join(f"-- {controller.name}\n{declared(controller)}" for controller in control_plane())
    agrees("declarations", "control plane", story)
