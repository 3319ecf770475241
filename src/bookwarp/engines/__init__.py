"""The engines and the one seam they share."""
