"""The API types that Mooring speaks, one package per API group, with their defaults and validation."""
