"""Kubernetes vocabulary without I/O: quantities, selectors, names and error texts, worded as the API words them."""
