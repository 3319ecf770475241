"""For tests, also for those of an engine outside this repository.

`invariants` says what holds for every run, `parity` compares engines to the last bit, and
`strategies` (needs hypothesis) draws ensembles with corners that fixed examples miss.
"""
