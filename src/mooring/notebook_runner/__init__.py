"""Executes and compares one notebook: the program in the pod of a job, and the one behind `mooring notebook run`.

It runs in images that other people made, by the Python that they have: syntax and standard library of 3.9, nbclient and
nbformat, and nothing else of Mooring.
"""
