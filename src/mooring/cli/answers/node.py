"""The answer about a node: what it has free, what keeps pods off, who holds its devices, which pods it gets."""

from __future__ import annotations

from mooring.cli.answers.answer import Question, ShownAnswer
from mooring.cli.errors import LANDS
from mooring.cli.render.node import node_page
from mooring.runway.explain.node.data import node_data
from mooring.runway.explain.node.report import report_node
from mooring.runway.sources.cluster_source import ClusterSource

__all__ = ["answer_node"]


def answer_node(cluster_source: ClusterSource, asked: Question) -> ShownAnswer:
    assert asked.target is not None
    report = report_node(cluster_source, asked.target.name, asked.percentage)
    return ShownAnswer(lambda: node_page(report, all_pods=asked.all_nodes), lambda: node_data(report), LANDS)
