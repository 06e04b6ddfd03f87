"""Suites that other people wrote, run against Mooring: one script per suite."""
