"""A pool of its own for every replica: made from free hosts when its pods wait, and removed when they are gone."""
