"""autoscaling: HorizontalPodAutoscalers in both of their versions."""
