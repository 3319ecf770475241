"""The cuda engine for books of 256-bit numbers."""
