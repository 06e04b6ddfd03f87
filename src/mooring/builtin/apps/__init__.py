"""The controllers of the apps group."""
