"""How many nodes a model needs: models, GPUs, and the estimate."""
