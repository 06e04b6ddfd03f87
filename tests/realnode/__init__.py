"""What a real node is made from in tests: networks, containerd, kubelet, images, and a look at what is left of it."""
