"""Questions drawn from a seed, each with the answer that kube-apiserver 1.35.8 gave.

A file of `recorded/` has stories: steps in a namespace of their own, and beside each what came back. `drawn/` makes the
steps, `python -m tests.conformance.questions.record` asks a real server and writes the files, and the tests ask the
embedded server the same within their own process.
"""
