"""Market data in files: LOBSTER, ITCH, and tables of events, read a block at a time."""
