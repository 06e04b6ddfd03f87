"""Providers: what makes a deployment of a model run. Each is data and plain functions, without I/O."""
