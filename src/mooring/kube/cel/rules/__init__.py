"""Rules in CEL on custom kinds (x-kubernetes-validations): types, compilation, and what rules say of an object."""
