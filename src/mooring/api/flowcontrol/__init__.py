"""flowcontrol.apiserver.k8s.io: FlowSchemas and the priority levels that they sort requests into."""
