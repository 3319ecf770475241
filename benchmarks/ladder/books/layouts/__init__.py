"""Layouts of one book: each is a tuple of functions that `matcher.build_match` compiles."""
