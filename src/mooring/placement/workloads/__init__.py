"""Objects that make pods: which kinds they are, and the pods that they would make."""
