"""`python -m doppeltrace` is the command line."""

from doppeltrace.cli import main

if __name__ == "__main__":
    main()
