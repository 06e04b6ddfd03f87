"""The answer about pods: those of manifests, those of a workload of the cluster, or those that wait."""

from __future__ import annotations

from mooring.cli.answers.answer import Question, ShownAnswer
from mooring.cli.errors import EXIT_CODES
from mooring.cli.render.application import add_application
from mooring.cli.render.explanation import explanation_page
from mooring.cli.render.page import TextPage
from mooring.runway.explain import pod_answers
from mooring.runway.explain.asked_pods.found_pods import any_held_up
from mooring.runway.explain.explain_data import explain_data
from mooring.runway.explain.explainer import verdict
from mooring.runway.explain.pod_answers import PodQuestion
from mooring.runway.sources.cluster_source import ClusterSource

__all__ = ["answer_pods"]


def answer_pods(cluster_source: ClusterSource, asked: Question) -> ShownAnswer:
    question = PodQuestion(
        asked.given if asked.target is None else asked.target,
        asked.configuration,
        asked.namespace,
        asked.everywhere,
        asked.thorough,
        asked.all_nodes,
        asked.limit,
        asked.percentage,
    )
    snapshot, found, outcomes, notes, waves = pod_answers.answer_pods(cluster_source, question)

    def page() -> TextPage:
        made = explanation_page(snapshot.cluster, outcomes, notes, found.workloads, waves, all_nodes=asked.all_nodes)
        add_application(made, outcomes, asked.given)
        return made

    return ShownAnswer(
        page,
        lambda: explain_data(snapshot.cluster, outcomes, notes, found.workloads, waves),
        EXIT_CODES[verdict(outcomes, held_up=any_held_up(found.workloads))],
    )
