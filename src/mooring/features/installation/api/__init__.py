"""The API of installations, runway.mooring.dev/v1alpha1. Other packages import this one and `helm` alone."""
