"""metrics.k8s.io: what pods and nodes use now, from kubelets, or as it is said of simulated ones. Nothing is stored.

An APIService that gives the group to another server, such as metrics-server, takes the place of this one.
"""
