"""The controllers of the batch group."""
