"""`python -m bookwarp` is the command line."""

from bookwarp.cli import main

if __name__ == "__main__":
    main()
