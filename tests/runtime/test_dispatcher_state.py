"""The dispatcher's invariants: they hold after a run, and a state that breaks one of them is named."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from mooring.api.kinds import Key
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.task import ReconcileRequest
from mooring.runtime.drivers.simulation import START
from mooring.testing.simulations import checked_simulation
from tests.runtime.maintenance import DRAINING

REQUEST = ReconcileRequest(DRAINING, Key("", "a"))


@pytest.fixture
def dispatcher() -> Dispatcher:
    made = Dispatcher([DRAINING], Random(0))
    made.validate_state()
    return made


def test_a_key_must_not_be_ready_twice(dispatcher: Dispatcher) -> None:
    dispatcher.queue.add(REQUEST)
    dispatcher.queue.add(REQUEST)
    dispatcher.validate_state()
    dispatcher.queue._ready.append(REQUEST)
    with pytest.raises(AssertionError, match="ready twice"):
        dispatcher.validate_state()


def test_a_key_must_not_be_ready_while_it_runs(dispatcher: Dispatcher) -> None:
    dispatcher.queue.add(REQUEST)
    dispatcher.queue.take()
    dispatcher.queue._ready.append(REQUEST)
    dispatcher.queue._waiting.add(REQUEST)
    with pytest.raises(AssertionError, match="while it runs"):
        dispatcher.validate_state()


def test_a_key_must_not_be_ready_before_it_has_observed_its_writes(dispatcher: Dispatcher) -> None:
    dispatcher.expectations.expect(REQUEST, {dispatcher.kinds[0]: 7}, ())
    dispatcher.validate_state()
    dispatcher.queue.add(REQUEST)
    with pytest.raises(AssertionError, match="before it has observed its own writes"):
        dispatcher.validate_state()


def test_a_key_must_not_wait_for_what_it_does_not_expect(dispatcher: Dispatcher) -> None:
    dispatcher._waiting.add(REQUEST)
    with pytest.raises(AssertionError, match="does not expect"):
        dispatcher.validate_state()


def test_a_moment_must_be_on_the_heap(dispatcher: Dispatcher) -> None:
    dispatcher.timers.add(START, REQUEST)
    dispatcher.validate_state()
    dispatcher.timers._heap.clear()
    with pytest.raises(AssertionError, match="never comes"):
        dispatcher.validate_state()


def test_the_keys_of_a_question_must_have_asked_it(dispatcher: Dispatcher) -> None:
    dispatcher._subscriptions.keys["nobody asked",] = {REQUEST: None}
    with pytest.raises(AssertionError, match="other keys"):
        dispatcher.validate_state()


def test_a_wanted_kind_must_have_a_store(dispatcher: Dispatcher) -> None:
    del dispatcher.stores[dispatcher.kinds[0]]
    with pytest.raises(AssertionError, match="has no store"):
        dispatcher.validate_state()


def test_a_simulated_run_ends_with_the_check() -> None:
    simulation = checked_simulation([DRAINING])
    simulation.run()
    simulation.dispatcher._waiting.add(REQUEST)
    with pytest.raises(AssertionError, match="does not expect"):
        simulation.run(timedelta(0))
