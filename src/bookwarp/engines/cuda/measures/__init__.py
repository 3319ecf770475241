"""The sums that measures are made of, on a GPU."""
