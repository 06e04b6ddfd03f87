"""The web page in a real browser, on a cluster of its own."""
