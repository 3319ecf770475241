"""The sums that measures are made of, on the cores."""
