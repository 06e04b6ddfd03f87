"""Thousands of requests that are drawn from the schemas of the built-in kinds, and what a real API server answered.

`objects/` has valid objects of every kind, people's work; `drawing` makes requests of them by small changes, of which
nobody chose one; `record` sends them to a real server and writes `recorded/` anew.
"""
