"""Answers to what upstream's operator was asked, in the shape in which its own answers are recorded."""
