"""Sweeps: many settings of a market in one call, stored block by block."""
