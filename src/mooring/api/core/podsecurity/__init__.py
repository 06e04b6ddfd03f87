"""Pod security standards: what pods of a namespace may do, by its labels."""
