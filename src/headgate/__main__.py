"""`python -m headgate`."""

from headgate.app.cli import main

if __name__ == "__main__":
    main()
