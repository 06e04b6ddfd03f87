"""kwok's Stages: the life of pods and nodes, written in YAML."""
