"""The command itself: ``python -m belsim compare unary``."""

import os
import subprocess
import sys

from belsim._call import executable


def main() -> None:
    """Becomes the command."""
    path = executable()
    if os.name == "nt":
        sys.exit(subprocess.call([path, *sys.argv[1:]]))
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
