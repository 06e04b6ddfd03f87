"""The CustomResourceDefinition of any kind, made from its types; docs/writing-a-kind.md is the tutorial.

Nothing is imported here: types need `markers` alone, and every command that reads a type would pay for the rest.
"""
