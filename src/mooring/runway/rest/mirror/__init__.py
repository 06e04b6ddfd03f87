"""What one caller may see of the cluster, kept up to date while the caller looks."""
