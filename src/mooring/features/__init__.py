"""Features, one folder each. Nothing outside a folder knows it but the list of features."""
