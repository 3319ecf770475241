"""The cuda engine: one persistent kernel a GPU, compiled when it is first used."""
