#!/usr/bin/env python3
"""Converts the output of enginehost_bench (Google Benchmark's JSON, with repetitions) into docs/figures.md.

usage: write_figures.py FIGURES_JSON PAGE

The sections about the package index and the packages are copied from PAGE, the page before: follow_figures.py and
package_figures.py measure them.
"""
import json
import pathlib
import platform
import statistics
import sys
from collections import defaultdict

import package_figures
from follow_figures import section_in

MILLISECOND = 1e6


class Row:
    """One line of the table: how a repetition's counters become a figure, and whether that meets the goal.
    `time` is what a goal given in milliseconds bounds, and `milliseconds` that bound."""

    def __init__(self, benchmark, what, goal, figure, met, floor, time=None, milliseconds=0):
        self.benchmark, self.what, self.goal = benchmark, what, goal
        self.figure, self.met, self.floor = figure, met, floor
        self.time, self.milliseconds = time, milliseconds

    def is_met(self, runs):
        return sum(self.met(run) for run in runs) * 2 > len(runs)


def within(benchmark, what, goal, figure, time, milliseconds, floor):
    """A row whose goal is a time and nothing else."""
    return Row(benchmark, what, goal, figure, lambda c: time(c) <= milliseconds * MILLISECOND, floor, time, milliseconds)


def over(subject, floor):
    return lambda c: c[subject + "_ns"] / c[floor + "_ns"]


def at_most(figure, limit):
    return lambda c: figure(c) <= limit


def at_least(figure, limit):
    return lambda c: figure(c) >= limit


def simple(benchmark, what, goal, figure, compare, limit, floor):
    return Row(benchmark, what, goal, figure, compare(figure, limit), floor)


def warm_open(engine, name):
    # The floor includes the engine's own create(), which EngineHost cannot shorten.
    same = over("open", "create")
    yield Row("open/" + engine, f"warm open of an installed, proven build: {name}",
              "<= 1.10 x, or no more than 0.15 ms above", same,
              lambda c: same(c) <= 1.10 or c["open_ns"] - c["create_ns"] <= 0.15 * MILLISECOND,
              "dlopen, dlsym, create() by hand, fresh process", lambda c: c["open_ns"] - c["create_ns"], 0.15)
    yield Row("open/" + engine, f"the same against dlopen alone, which does not include create(): {name}", "",
              over("open", "dlopen"), None, "dlopen and dlsym of the same files, fresh process")
    yield Row("open/" + engine, f"only the check of the files that it depends on: {name}", "",
              over("look", "dlopen"), None, "dlopen and dlsym of the same files, fresh process")


def slowest_stage(c):
    return c["acquire_ns"] / max(c["curl_ns"], c["sha256sum_ns"], c["unpack_ns"])


def in_turn(c):
    return c["acquire_ns"] / (c["curl_ns"] + c["sha256sum_ns"] + c["unpack_ns"])


def slowest_durable_stage(c):
    return c["acquire_ns"] / max(c["curl_ns"], c["sha256sum_ns"], c["durable_ns"])


def over_the_wire():
    def allowed(c):
        return 1.25 * c["wire_ns"] + 0.3e9 * c["unpacked"] / 500e6

    figure = over("acquire", "wire")
    yield Row("wire/install", "install over 1 Gbit/s, tar.zst, durable", "<= 1.25 x + 0.3 s per 500 MB", figure,
              lambda c: c["acquire_ns"] <= allowed(c), "the bits of the archive at 1 Gbit/s")
    memory = lambda c: c["rss_kb"] / 1024 / 128
    yield Row("wire/install", "its resident memory", "<= 128 MB", memory, at_most(memory, 1), "128 MB")
    idle = lambda c: c["waiters_cpu_ns"] / c["wall_ns"]
    yield Row("wire/wait", "processor time of 16 processes that wait for the download of a 17th", "<= 0.02 x", idle,
              at_most(idle, 0.02), "the time they wait")


def installs():
    for kind, tool in (("zip", "unzip"), ("tar.zst", "tar --zstd")):
        yield Row("install/" + kind, f"download, verify and unpack, {kind}", "<= 1.15 x with two idle cores, <= 1.35 x with one",
                  slowest_stage, at_most(slowest_stage, 1.15), f"the slowest of curl, sha256sum, {tool}")
        if_durable = f"the same, with the output of {tool} synced to disk as ours is"
        yield Row("install/" + kind, if_durable, "<= 1.15 x with two idle cores, <= 1.35 x with one", slowest_durable_stage,
                  at_most(slowest_durable_stage, 1.15), f"the slowest of curl, sha256sum, {tool} with sync of each file")
        yield Row("install/" + kind, f"download, verify and unpack against one after another, {kind}", "<= 1.00 x", in_turn,
                  at_most(in_turn, 1.0), f"curl, then sha256sum, then {tool}")


ROWS = [
    *warm_open("reference", "reference"),
    *warm_open("onnxruntime", "onnxruntime"),
    Row("open/reference", "open of an engine already open", "no more than 5 us above", over("again", "dlopen"),
        lambda c: c["again_ns"] <= 5000, "first dlopen of the same files"),
    simple("closure/285", "closure of 285 libraries", ">= 8 x faster", over("ldd", "closure"), at_least, 8, "ldd"),
    Row("closure/285_libtree", "the same against a program that reads the files", "", over("libtree", "closure"), None,
        "libtree -vv"),
    simple("closure/285_versions", "the same with symbol versions", ">= 4 x faster", over("ldd", "closure"), at_least, 4,
           "ldd -v"),
    simple("closure/small", "closure of at most 15 libraries", ">= 20 x faster", over("ldd", "closure"), at_least, 20,
           "ldd"),
    within("bindings/million", "check of symbol binding, 1e6 relocations, at a cold open", "<= 100 ms", over("check", "dlopen"),
           lambda c: c["check_ns"], 100, "dlopen and dlclose of the file"),
    within("bindings/largest", "the same, the largest library of a CUDA toolkit", "<= 100 ms", over("check", "dlopen"),
           lambda c: c["check_ns"], 100, "dlopen and dlclose of the file"),
    within("store/find_285_files", "check that an installed build of 285 files is unchanged", "<= 0.6 ms",
           over("find", "stat"), lambda c: c["find_ns"], 0.6, "285 stats"),
    within("decide/cold", "decision over 500 builds, manifest changed", "<= 20 ms", over("read_and_decide", "parse"),
           lambda c: c["read_and_decide_ns"], 20, "nlohmann's parser alone, same text"),
    within("decide/again", "decision over 500 builds that are in memory", "<= 0.2 ms", over("decide", "explain_all"),
           lambda c: c["decide_ns"], 0.2, "explaining every check of every build"),
    *installs(),
    simple("fetch/onnxruntime", "engine-cache fetch of ONNX Runtime from a local package index, empty cache, durable",
           "<= 0.6 x", over("fetch", "uv"), at_most, 0.6, "uv pip install of the same wheel, empty cache"),
    Row("plan/first", "first plan of an engine over a signed repository of 100 engines, HTTP, 50 ms round trip, as a process",
        "<= 0.3 s", over("plan", "round_trip"), lambda c: c["plan_ns"] <= 300 * MILLISECOND,
        "one request over an open connection of the same line"),
    Row("plan/first_tls", "the same over TLS", "", over("plan", "round_trip"), None,
        "one request over an open connection of the same line, without TLS"),
    within("plan/folder", "reading one engine of a folder of 100 engines", "<= 5 ms", over("one", "all"),
           lambda c: c["one_ns"], 5, "reading all of them"),
    *over_the_wire(),
    simple("call/add_4096", "call through the plugin ABI, Add of 4096 floats", "<= 1.3 x", over("abi", "direct"), at_most, 1.3,
           "the same function linked in"),
    Row("call/add_16", "the same, Add of 16 floats (little more than the call)", "", over("abi", "direct"), None,
        "the same function linked in"),
    within("detect/first", "detection without drivers, first", "<= 1 ms", over("detect", "read"),
           lambda c: c["detect_ns"], 1, "reading the six files that it needs at least"),
    simple("command/engine_info", "engine-info, warm, as a process", "<= 15 x", over("engine_info", "empty"), at_most, 15,
           "an empty dynamic C++ process"),
    simple("command/engine_info_reference", "engine-info reference, warm, as a process", "<= 15 x",
           over("engine_info", "empty"), at_most, 15, "an empty dynamic C++ process"),
    Row("command/version", "engine-info --version: start-up alone", "", over("engine_info", "empty"), None,
        "an empty dynamic C++ process"),
    within("probe/reference", "probe in a child, whole (reference)", "no more than 1 ms above", over("probe", "empty_child"),
           lambda c: c["probe_ns"] - c["empty_child_ns"], 1, "spawning /bin/true"),
    Row("probe/onnxruntime", "probe in a child, whole (onnxruntime)", "<= 2.0 x", over("probe", "in_process"),
        at_most(over("probe", "in_process"), 2.0), "dlopen and create() in a fresh process"),
    within("store/list_100", "list of 100 installed builds", "<= 1 ms", over("list", "read"), lambda c: c["list_ns"], 1,
           "reading the 100 records"),
    simple("reference/add_99000000", "reference engine: add of 9.9e7 floats", "<= 1.1 x", over("engine", "stream"), at_most,
           1.1, "a streaming-store loop on one thread"),
    simple("reference/matmul_2048", "reference engine: product of 2048 x 2048 matrices", "<= 3 x",
           over("engine", "openblas"), at_most, 3, "OpenBLAS on one thread"),
]


def read_runs(document):
    """name -> counters of each repetition, and name -> why it was left out."""
    runs, left_out = defaultdict(list), {}
    for run in document["benchmarks"]:
        if run.get("run_type") == "aggregate":
            continue
        name = run["run_name"].split("/iterations:")[0]
        if run.get("error_occurred"):
            left_out[name] = run["error_message"]
        else:
            runs[name].append(run)
    return runs, left_out


def readable(nanoseconds):
    for limit, unit, scale in ((1e3, "ns", 1), (1e6, "us", 1e3), (1e9, "ms", 1e6)):
        if nanoseconds < limit:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def medians(runs):
    names = [name for name in runs[0] if name.endswith("_ns")]
    return ", ".join(f"{name[:-3].replace('_', ' ')} {readable(statistics.median(run[name] for run in runs))}"
                     for name in names)


def machine_line():
    model, system = "processor unknown", "system unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/etc/os-release", encoding="utf-8") as file:
        for line in file:
            if line.startswith("PRETTY_NAME="):
                system = line.split("=", 1)[1].strip().strip('"')
    return model, system, platform.release()


def verdict(row, own, stat):
    """Whether the goal is met. A goal in milliseconds is also met if it is met in stat calls of the machine of the goals."""
    if not row.met:
        return ""
    if row.is_met(own):
        return "yes"
    if row.time and stat:
        time = statistics.median(row.time(run) for run in own)
        if time / stat <= row.milliseconds * MILLISECOND / STAT_WHERE_GOALS_WERE_SET:
            return "in stats"
    return "**no**"


def table(runs, left_out):
    stat = cost_of_a_stat(runs)
    yield "| what | goal | measured: median (least to most) | goal met | floor or peer | medians, for information |"
    yield "|---|---|---|---|---|---|"
    for row in ROWS:
        own = runs.get(row.benchmark)
        if not own:
            why = left_out.get(row.benchmark)
            if why:
                yield f"| {row.what} | {row.goal} | {why} | | {row.floor} | |"
            continue
        figures = [row.figure(run) for run in own]
        yield (f"| {row.what} | {row.goal} | {statistics.median(figures):.3g} x "
               f"({min(figures):.3g} to {max(figures):.3g}) | {verdict(row, own, stat)} | {row.floor} | {medians(own)} |")


STAT_WHERE_GOALS_WERE_SET = 500  # ns


def cost_of_a_stat(runs):
    looks = runs.get("store/find_285_files")
    return statistics.median(run["stat_ns"] for run in looks) / 285 if looks else None


def what_a_stat_costs(runs):
    """Converts each missed goal in milliseconds into stat calls: the goals were set where one takes 0.5 us."""
    stat, opens = cost_of_a_stat(runs), runs.get("open/reference")
    if not stat:
        return
    yield (f"A `stat` call takes {stat / 1000:.2g} us on this machine. The goals in milliseconds were set on a machine where it\n"
           "takes 0.5 us. The list converts each missed goal into `stat` calls. If the result is within the goal in `stat`\n"
           "calls, the table says \"in stats\".")
    missed = [row for row in ROWS if row.time and runs.get(row.benchmark) and not row.is_met(runs[row.benchmark])]
    lines = []
    for row in missed:
        time = statistics.median(row.time(run) for run in runs[row.benchmark])
        lines.append(f"- {row.what}: {time / stat:.0f} stats; the goal of {row.milliseconds:g} ms is "
                     f"{row.milliseconds * MILLISECOND / STAT_WHERE_GOALS_WERE_SET:.0f} stats")
    yield "\n".join(lines) if lines else "- none"
    if opens:
        look = statistics.median(run["look_ns"] for run in opens)
        yield f"The check of the files that an open of the reference engine depends on takes {readable(look)}."


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    runs, left_out = read_runs(document)
    model, system, kernel = machine_line()
    repetitions = max((len(own) for own in runs.values()), default=0)
    print(f"""# Figures

This page shows how long EngineHost takes, as ratios. Each ratio compares EngineHost with a floor or with another
program, measured in the same run. `scripts/figures.sh` measures everything again and writes this page. Do not edit it.

Measured on: {model}, {document["context"]["num_cpus"]} cores, {system}, Linux {kernel}.

Only the ratios are claims. The machine may have been busy with other work, which slows both sides of a ratio equally.
The times in the last column are information.
""")
    print("\n".join(table(runs, left_out)))
    for note in what_a_stat_costs(runs):
        print("\n" + note)
    page = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    for section in (section_in(page), section_in(page, package_figures.HEADING)):
        print("\n" + section if section else "", end="")
    print(f"""
## How it is measured

`tests/bench` uses Google Benchmark. The sides of a comparison take turns, in a rotating order, after one turn each to
warm up. A repetition gives the medians of the turns and their ratio. The table shows the median, the least and the
greatest ratio of {repetitions} repetitions. A ratio above 1 is slower than the floor, unless the goal says "faster".

- **Opens** run in a new process, `bench_open_child`, which measures itself. The time begins before the settings are
  read and ends when the engine is created. An earlier run installed the build and tried it in the probe.
- **The 285 libraries** are generated: a tree of libraries with versioned symbols and up to five dependencies each,
  found through RUNPATH. Before the measurement, the answer is compared with that of ldd. On both sides the files are
  in the page cache.
- **The manifest of 500 builds** is of one engine, so every build is checked against this machine.
- **Archives** hold real libraries of this machine, about 250 MB unpacked. nginx serves them on the loopback interface
  into an empty cache. EngineHost syncs to disk and hashes the unpacked files. A peer syncs only where the table says
  so.
- **The line** of the first plan is a relay between the command and nginx. Each byte arrives 25 ms after it was sent,
  and a new connection needs 50 ms before it carries anything. The bandwidth is not limited.
- **The folder** of 100 engines holds copies of the manifest of TensorFlow of this tree.
- **Commands** run offline with one engine installed. Their output goes to /dev/null.
""", end="")


if __name__ == "__main__":
    main()
