"""HorizontalPodAutoscalers: replicas follow what pods use, as kube-controller-manager 1.35 computes it."""
