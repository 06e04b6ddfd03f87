"""Prometheus' text as servers of models write it, read whole or refused with its line."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.errors import MooringError
from mooring.runway.deployments.metrics_text import MetricSample, read_samples

VLLM = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="microsoft/phi-4"} 3.0
vllm:e2e_request_latency_seconds_bucket{le="+Inf",model_name="microsoft/phi-4"} 12
process_open_fds 41
 spaced { a = "1" , } 2e3 1700000000000
with_exemplar_total{a="}"} 7 # {trace_id="x"} 1.0
# EOF
"""


def test_the_text_of_a_model_server_is_read() -> None:
    assert read_samples(VLLM) == [
        MetricSample("vllm:num_requests_running", {"engine": "0", "model_name": "microsoft/phi-4"}, 3.0),
        MetricSample("vllm:e2e_request_latency_seconds_bucket", {"le": "+Inf", "model_name": "microsoft/phi-4"}, 12.0),
        MetricSample("process_open_fds", {}, 41.0),
        MetricSample("spaced", {"a": "1"}, 2000.0),
        MetricSample("with_exemplar_total", {"a": "}"}, 7.0),
    ]


def test_a_value_may_follow_the_closing_brace_at_once() -> None:
    assert read_samples('labelled{a="1"}2\nbare{}3\n') == [
        MetricSample("labelled", {"a": "1"}, 2.0),
        MetricSample("bare", {}, 3.0),
    ]


@pytest.mark.parametrize(("text", "shown"), [("NaN", "NaN"), ("+Inf", "+Inf"), ("-Inf", "-Inf"), ("1e-3", 0.001)])
def test_what_is_no_number_is_kept_in_words(text: str, shown: float | str) -> None:
    (found,) = read_samples(f"x {text}")
    assert found.number == shown


@pytest.mark.parametrize(
    "line",
    ["<!DOCTYPE html>", '{"detail": "Not Found"}', "x", 'x{a="1"', "x{a=1} 2", "x one", "x 1_000", 'x{a="1"b="2"} 1'],
)
def test_what_is_no_metric_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(MooringError, match="line 2 is no metric in Prometheus' text form"):
        read_samples(f"up 1\n{line}\n")


NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]*", fullmatch=True)
# Lines end at any of these, and no label of a model has them.
TEXTS = st.text().filter(lambda text: len(f"x{text}x".replace("\n", "").splitlines()) == 1)
SAMPLES = st.builds(MetricSample, NAMES, st.dictionaries(NAMES, TEXTS), st.floats())


@given(st.lists(SAMPLES))
def test_what_is_written_is_read_back(samples: list[MetricSample]) -> None:
    found = read_samples("\n".join(each.line for each in samples))
    assert [each[:2] for each in found] == [each[:2] for each in samples]
    assert all(a.value == b.value or math.isnan(a.value) for a, b in zip(found, samples, strict=True))
