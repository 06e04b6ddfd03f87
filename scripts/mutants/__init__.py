"""How strong the tests are: small faults put into a copy of the source, and whether a test of their package notices."""
