#!/usr/bin/env python3
"""Prints the release of an engine whose adapter has to be compiled so that a build opens here.

usage: engine-info ENGINE --plan --json | missing_adapter.py

The plan lists builds in the order of preference. Prints the version of the first one that lacks nothing but its adapter
(EH-S12), and nothing if a build is chosen already or every build lacks more.
"""
import json
import sys


def missing(plan: dict) -> str:
    candidates = plan["candidates"]
    if any(one["verdict"] == "chosen" for one in candidates):
        return ""
    for one in candidates:
        if {check["code"] for check in one["checks"] if check["result"] == "no"} == {"EH-S12"}:
            return one["version"]
    return ""


if __name__ == "__main__":
    print(missing(json.load(sys.stdin)))
