"""What a market is: validated parameters, integer codes, the layout of a state. NumPy only."""
