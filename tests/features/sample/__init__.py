"""The feature that docs/writing-a-feature.md builds: models served from images, in one folder."""
