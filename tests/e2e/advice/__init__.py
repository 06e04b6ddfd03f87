"""Proof of advice: broken workloads, and what becomes of them when the printed command is pasted."""
