#!/usr/bin/env python3
"""Measures engine-manifest follow over pip's package index, and replaces the section of docs/figures.md about it.

usage: follow_figures.py ENGINE_MANIFEST PLANS PAGE

PLANS is the folder of the tree's plans. Each is followed in a temporary folder with an empty memory: all its rows (22 GB),
and then the newest row for this machine's processor alone, for PyTorch with its adapter. Nothing of the tree is changed but PAGE.
"""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

HEADING = "## Rows from the package index"
ROOT = pathlib.Path(__file__).resolve().parents[2]
MB = 1e6
ENGINES = {"onnxruntime": {"name": "ONNX Runtime", "own": "ONNX Runtime", "seconds": 10, "megabytes": 30},
           "pytorch": {"name": "PyTorch", "own": "PyTorch with its adapter", "seconds": 90, "megabytes": 170}}
MOST_OF_WHOLE = 1.1


class Adapter:
    """What an adapter costs that is compiled from headers."""

    def __init__(self, seconds=0, fetched=0):
        self.seconds, self.fetched = seconds, fetched


class Measured:
    """A run of engine-manifest follow: its report and its time."""

    def __init__(self, report, seconds):
        self.seconds = seconds
        self.versions = [row["version"] for row in report["rows"]]
        self.failed = [row["name"] for row in report["rows"] if row["state"] == "failed"]
        self.rows = len(report["rows"])
        archives = report["archives"]
        self.wheels, self.whole = len(archives), [one for one in archives if one["whole"]]
        self.fetched = sum(one["fetched"] for one in archives)
        self.sizes = sum(one["size"] for one in archives)
        self.parts = sum(one["fetched"] for one in archives if not one["whole"])

    def whole_size(self):
        return sum(one["size"] for one in self.whole)

    def ratio(self):
        """What was fetched of the wheels that were read whole, against their sizes."""
        return (self.fetched - self.parts) / self.whole_size() if self.whole else 0


def this_machine():
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    return platform.system().lower(), "arm64" if platform.system() == "Darwin" and arch == "aarch64" else arch


def own_row(plan, system, arch):
    """The plan with one row: the newest release for the processor of that machine."""
    for track in plan["tracks"]:
        rows = [row for row in track["rows"]
                if (row["os"], row["arch"], row["build"]["flavor"]) == (system, arch, "cpu")]
        if rows:
            used = {rows[0]["layout"]} | {part["layout"] for part in rows[0].get("parts", [])}
            return {**plan, "builds": [],
                    "layouts": {name: one for name, one in plan["layouts"].items() if name in used},
                    "tracks": [{**track, "newest": 1, "keep": [], "cuda_majors": [], "rows": rows[:1]}]}
    raise SystemExit(f"the plan of {plan['engine']} has no row for the processor of {system} {arch}")


def follow(program, plan, folder):
    file = pathlib.Path(folder) / "plan.json"
    file.write_text(json.dumps({**plan, "manifest": "manifest.json", "facts": "facts"}), encoding="utf-8")
    start = time.monotonic()
    ended = subprocess.run([program, "follow", file, "--json"], stdout=subprocess.PIPE, check=False)
    seconds = time.monotonic() - start
    report = json.loads(ended.stdout)
    if "rows" not in report:
        raise SystemExit(f"{plan['engine']}: {report['diagnosis']['code']}")
    return Measured(report, seconds)


def compile_adapter(version):
    """Fetches the headers of a release and compiles the adapter, without a compiler cache."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        fetched = subprocess.run([sys.executable, "-B", ROOT / "engines/pytorch/fetch_headers.py", "--release", version,
                                  folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        build = pathlib.Path(folder) / "build"
        quiet = {"stdout": subprocess.DEVNULL, "check": True, "env": {**os.environ, "CCACHE_DISABLE": "1"}}
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                        "-DENGINEHOST_TESTS=OFF", "-DENGINEHOST_BENCHMARKS=OFF", "-DENGINEHOST_ENGINES=pytorch",
                        "-DENGINEHOST_TORCH_ROOT=" + fetched.stdout.strip()], **quiet)
        minor = ".".join(version.split(".")[:2])
        subprocess.run(["cmake", "--build", build, "--target", "engine_pytorch_" + minor], **quiet)
        return Adapter(time.monotonic() - start, int(re.search(r"(\d+) bytes fetched", fetched.stderr).group(1)))


def measure(program, plan):
    with tempfile.TemporaryDirectory() as folder:
        everything = follow(program, plan, folder)
    with tempfile.TemporaryDirectory() as folder:
        own = follow(program, own_row(plan, *this_machine()), folder)
    return everything, own, compile_adapter(own.versions[0]) if plan["engine"] == "pytorch" else Adapter()


def verdict(is_met, measured):
    return "**no**" if not is_met or measured.failed else "yes"


def lines_of(engine, everything, own, adapter):
    goals = ENGINES[engine]
    yield (f"| all rows of {goals['name']}, wheels that are read whole | <= {MOST_OF_WHOLE} x | {everything.ratio():.4g} x "
           f"| {verdict(everything.ratio() <= MOST_OF_WHOLE, everything)} | their sizes, each once "
           f"| {everything.rows} rows, {everything.wheels} wheels, {len(everything.whole)} whole with "
           f"{everything.whole_size() / MB:,.0f} MB; {everything.parts / MB:,.0f} MB of the others, "
           f"{everything.fetched / MB:,.0f} MB in all, {everything.fetched / everything.sizes:.2f} x the sizes of all wheels; "
           f"{everything.seconds:.0f} s |")
    megabytes, seconds = (own.fetched + adapter.fetched) / MB, own.seconds + adapter.seconds
    shares = ("", "")  # of the row and of the adapter
    if adapter.fetched:
        shares = (f" row {own.fetched / MB:.3g} MB, headers {adapter.fetched / MB:.3g} MB",
                  f" row {own.seconds:.3g} s, adapter {adapter.seconds:.3g} s")
    yield (f"| {goals['own']}, the newest row for this processor: bytes | <= {goals['megabytes']} MB | {megabytes:.3g} MB "
           f"| {verdict(megabytes <= goals['megabytes'], own)} | |{shares[0]} |")
    yield (f"| the same: time | <= {goals['seconds']} s | {seconds:.3g} s | {verdict(seconds <= goals['seconds'], own)} | "
           f"|{shares[1]} |")


def section(measured, date):
    lines = "\n".join(line for engine, runs in measured.items() for line in lines_of(engine, *runs))
    return f"""{HEADING}

`scripts/figures.sh --index` measures this section alone, because it fetches several GB. Measured on {date}.
`engine-manifest follow` reads the plans of this tree with an empty memory. Pages of the index are not counted. The
adapter of PyTorch is compiled from headers of the wheel, without a compiler cache.

| what | goal | measured | goal met | floor | for information |
|---|---|---|---|---|---|
{lines}
"""


def section_in(page, heading=HEADING):
    """The section with its heading, or an empty text."""
    start = page.find(heading)
    if start < 0:
        return ""
    end = page.find("\n## ", start)
    return page[start:end + 1 if end >= 0 else len(page)].rstrip("\n") + "\n"


def with_section(page, text, heading=HEADING):
    """The page with the section in place of the one it has, else before its last chapter."""
    old = section_in(page, heading)
    if old:
        return page.replace(old, text)
    chapter = "## How it is measured"
    return page.replace(chapter, text + "\n" + chapter)


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    program, plans, page = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    measured = {}
    for engine in ENGINES:
        measured[engine] = measure(os.path.abspath(program), json.loads((plans / f"{engine}.json").read_text(encoding="utf-8")))
        for line in lines_of(engine, *measured[engine]):
            print(line, file=sys.stderr)
        for run in measured[engine][:2]:
            if run.failed:
                print(f"failed: {', '.join(run.failed)}", file=sys.stderr)
    text = section(measured, datetime.date.today().isoformat())
    page.write_text(with_section(page.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
