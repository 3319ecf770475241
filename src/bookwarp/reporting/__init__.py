"""The report of a sweep: figures and tables of its dataset, as one page and as pictures."""
