"""What an expression could cost on the largest values that its variables may have, found without running it."""
