"""Both homes, with their controllers."""

from mooring.testing.fixtures import cluster as cluster
