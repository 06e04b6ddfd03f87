"""Aggregation: servers behind this one answer for the groups and versions that an APIService gives to them."""

from mooring.apiserver.aggregation.aggregator import Aggregator

__all__ = ["Aggregator"]
