"""The integer benchmark of small books ("lux-int"): 32 resting and 32 incoming orders a book."""
