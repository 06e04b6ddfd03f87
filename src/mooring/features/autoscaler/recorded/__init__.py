"""Answers to what upstream's cluster autoscaler was asked, in the shape in which its own answers are recorded."""
