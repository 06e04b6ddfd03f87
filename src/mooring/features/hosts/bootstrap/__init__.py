"""BootstrapKubeconfigs: one minted token each, and the kubeconfig with which a host asks for its certificate."""
