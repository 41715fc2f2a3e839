"""The entry of `headgate` and of `python -m headgate`."""

import gc
import sys

from headgate import __version__


def main() -> None:
    """Answer `--version` at once; load the command line for all else."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"headgate {__version__}\n")
        return
    # Loading leaves no garbage, but many objects to look through; `run_async` enables it again.
    gc.disable()
    from headgate.app.streams import open_missing_streams  # noqa: PLC0415

    open_missing_streams()
    from headgate.app.cli import main as command_line  # noqa: PLC0415

    command_line()


if __name__ == "__main__":
    main()
