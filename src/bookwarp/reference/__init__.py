"""The oracle: slow, obvious, one rule a file. Imports the specification only."""
