"""CEL as Kubernetes speaks it: Google's CEL, the functions that Kubernetes adds, and the texts of the real API server.

Everything of the product that evaluates an expression does it here. The library is loaded when the first expression is
compiled, not when this package is imported.
"""
