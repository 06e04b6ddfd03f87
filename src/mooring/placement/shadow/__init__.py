"""A scheduler's shadow: predicts what it will do with each waiting pod, and tells how often that was right.

No I/O: the caller follows a cluster, feeds its changes in, and gets judgements back.
"""

from mooring.placement.shadow.judgements import Agreement, Judgement, Shadow
from mooring.placement.shadow.outcomes import WATCHED, Bound, Failed, Outcome
from mooring.placement.shadow.predictions import Prediction

__all__ = ["WATCHED", "Agreement", "Bound", "Failed", "Judgement", "Outcome", "Prediction", "Shadow"]
