"""What a loop has decided, in words: events, lines of a log, and a status."""
