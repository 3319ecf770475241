"""What comes out of a run: the run object, datasets and tables, files, checkpoints."""
