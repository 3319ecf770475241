"""Continuous books on the processor: pools of small records, one thread a block of books."""
