"""`make soak`: a cluster under churn, kills, stops and floods, and whether it kept its promises."""
