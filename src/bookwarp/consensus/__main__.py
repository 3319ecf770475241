"""`python -m bookwarp.consensus` is `bookwarp consensus`."""

from bookwarp.cli.consensus import consensus

if __name__ == "__main__":
    consensus(prog_name="python -m bookwarp.consensus")
