"""What single kinds have beside the verbs that all kinds share."""
