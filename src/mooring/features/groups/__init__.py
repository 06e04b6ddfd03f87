"""LeaderWorkerSets: groups of pods that come, land and go together."""
