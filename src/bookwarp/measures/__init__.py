"""What to measure of a run, where its rows are: stylised facts, volume, spread, or a function."""

from bookwarp.measures.protocol import Measure, Output

__all__ = ["Measure", "Output"]
