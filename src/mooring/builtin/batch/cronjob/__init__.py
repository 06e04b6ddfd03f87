"""CronJobs: Jobs that are made at times."""
