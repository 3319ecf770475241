"""Continuous books on a GPU: a warp takes a book, and all books go at once."""
