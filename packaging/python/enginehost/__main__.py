"""python -m enginehost: prints where the package keeps what builds use."""
import argparse
import sys

import enginehost


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m enginehost")
    parser.add_argument("--version", action="version", version=enginehost.__version__)
    parser.add_argument("--cmake-dir", action="store_true", help="the folder with EngineHostConfig.cmake")
    parser.add_argument("--library", action="store_true", help="the file of the shared library")
    options = parser.parse_args()
    if options.cmake_dir:
        print(enginehost.cmake_dir())
    if options.library:
        print(enginehost.library())
    if not options.cmake_dir and not options.library:
        parser.print_usage()
    return 0


if __name__ == "__main__":
    sys.exit(main())
