"""Results of the KineticSim paper (arXiv:2606.21784), computed again: `table2` and `figure7`."""
