"""The tests mirror the packages they are about."""
