"""The cpu engine for books of 256-bit numbers."""
