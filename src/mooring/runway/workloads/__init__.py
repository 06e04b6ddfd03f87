"""Workloads as people look at them: one line for what was asked for, whatever stands between it and its pods."""
