"""What is known of node groups over time: requests that run, nodes that came or did not, groups that are left alone."""
