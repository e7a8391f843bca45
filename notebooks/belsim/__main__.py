"""The command itself: ``python -m belsim compare unary``."""

import sys

from belsim._call import Error, become


def main() -> None:
    """Becomes the command."""
    try:
        become(sys.argv[1:])
    except Error as error:
        print(f"belsim: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
