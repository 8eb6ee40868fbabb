#!/usr/bin/env python3
"""An application may end while a call of the API is running."""
import argparse
import os
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--how", required=True, choices=["threads", "global"])
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ENGINEHOST_")}
        environment.update(HOME=folder, XDG_CACHE_HOME=folder, XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder)
        for number in range(options.runs):
            ended = subprocess.run([options.program, options.how], env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, timeout=120)
            wanted = ["opened reference", "reported EH-S02"] if options.how == "global" else []
            missing = [text for text in wanted if text not in ended.stdout]
            if ended.returncode != 0 or missing:
                print(f"run {number + 1} of {options.runs} ended with {ended.returncode}; not printed: {missing}")
                print(ended.stdout)
                return 1
    return 0


sys.exit(main())
