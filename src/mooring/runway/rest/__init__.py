"""The REST API for people and pages: it acts with the rights of whoever asks, and with no others."""
