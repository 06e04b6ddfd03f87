"""A scrape has every name and every series once."""

from mooring.kube.prometheus import Histogram, Metric, exposition


def test_metrics_of_one_name_are_added_up() -> None:
    first, second = (Metric("runs_total", "counter", "Runs.", ("of",)) for _ in range(2))
    first.add("a", amount=2)
    second.add("a")
    second.add("b")
    assert exposition((first, second)).splitlines() == [
        "# HELP runs_total Runs.",
        "# TYPE runs_total counter",
        'runs_total{of="a"} 3',
        'runs_total{of="b"} 1',
    ]


def test_histograms_of_one_name_are_added_up() -> None:
    first, second = (Histogram("seconds", "Time.", (), (1.0,)) for _ in range(2))
    first.observe(value=0.5)
    second.observe(value=2.0)
    assert exposition((first, second)).splitlines()[2:] == [
        'seconds_bucket{le="1.0"} 1',
        'seconds_bucket{le="+Inf"} 2',
        "seconds_sum 2.5",
        "seconds_count 2",
    ]
