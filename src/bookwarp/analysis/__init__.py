"""Statistics and pictures of what ran: the only place where floats decide."""
