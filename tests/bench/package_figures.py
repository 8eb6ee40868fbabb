#!/usr/bin/env python3
"""Measures the files that scripts/package.sh made, and replaces the section of docs/figures.md about them.

usage: package_figures.py FOLDER PAGE

The sides of a comparison take turns. Needs a C++ compiler for the empty program.
"""
import datetime
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from follow_figures import with_section

HEADING = "## Packages"
TURNS = 101
MEGABYTE = 1_000_000
# Opens the reference engine, which an earlier run installed and proved, and prints what the process then holds.
OPEN = r"""
#include <dlfcn.h>
#include <enginehost/enginehost.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
static long resident(void) {
  long pages = 0, kept = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &pages, &kept) != 2) return 0;
  fclose(file);
  return kept * 4;
}
int main(int argc, char** argv) {
  (void)argc;
  const long before = resident();
  const double begin = milliseconds();
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 2;
  __typeof__(&enginehost_open) open;
  *(void**)&open = dlsym(library, "enginehost_open");
  const long loaded = resident();
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  request.engine = "reference";
  request.offline = 1;
  enginehost_engine* engine = NULL;
  if (open(&request, &engine, NULL) != 0) return 1;
  printf("%f %ld\n", milliseconds() - begin, loaded - before);
  return 0;
}
"""


def timed(command, environment):
    begin = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return time.perf_counter() - begin


def ratio(command, floor, environment):
    """Medians of both in ms, and their ratio."""
    ours, floors = [], []
    for _ in range(TURNS):
        ours.append(timed(command, environment))
        floors.append(timed(floor, environment))
    mine, least = statistics.median(ours) * 1e3, statistics.median(floors) * 1e3
    return mine, least, mine / least


def compiled(source, language, output, *flags):
    compiler = {"c": "cc", "c++": "c++"}[language]
    subprocess.run([compiler, "-O2", "-x", language, "-", "-o", output, *flags], input=source, text=True, check=True)
    return output


def row(what, goal, measured, met, floor, information):
    return f"| {what} | {goal} | {measured} | {'yes' if met else '**no**'} | {floor} | {information} |"


def measure(folder, scratch):
    tar, wheel = next(p for p in folder.glob("*.tar.xz") if "-debug" not in p.name), next(folder.glob("*.whl"))
    subprocess.run(["tar", "-xf", tar, "-C", scratch], check=True)
    tree = next(scratch.glob("enginehost-*"))
    subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], check=True)
    subprocess.run([scratch / "venv/bin/pip", "install", "--quiet", "--no-index", wheel], check=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(scratch), "ENGINEHOST_OFFLINE": "1"}
    empty = compiled("#include <iostream>\nint main(int argc, char**) { if (argc > 9) std::cout << argc; }\n", "c++", scratch / "empty")
    for file, name in ((tar, "tar"), (wheel, "wheel")):
        size = file.stat().st_size / MEGABYTE
        yield row(f"the {name}", "<= 20 MB", f"{size:.1f} MB", size <= 20, "", "")
    bare = sum(file.stat().st_size for file in tree.rglob("*") if file.is_file() and "repository/files" not in str(file)) / MEGABYTE
    yield row("the tree without plugins, unpacked", "<= 20 MB", f"{bare:.1f} MB", bare <= 20, "", "")
    for name, program in (("tar", tree / "bin/engine-info"), ("wheel", scratch / "venv/bin/engine-info")):
        mine, least, times = ratio([program, "--version"], [empty], environment)
        yield row(f"`engine-info --version` of the {name}", "<= 2.5 x", f"{times:.2f} x", times <= 2.5, "an empty dynamic C++ process",
                  f"engine info {mine:.2f} ms, empty {least:.2f} ms")
    library = tree / "lib/libenginehost.so.0"
    opens = compiled(OPEN, "c", scratch / "opens", f"-I{tree}/include", "-ldl")
    subprocess.run([tree / "bin/engine-info", "reference"], check=True, env=environment, stdout=subprocess.DEVNULL)
    time.sleep(3)  # files that have just changed are looked at again until their times are certain
    results = [subprocess.run([opens, library], check=True, env=environment, capture_output=True, text=True).stdout.split()
               for _ in range(TURNS)]
    milliseconds = statistics.median(float(one[0]) for one in results)
    kept = statistics.median(int(one[1]) for one in results) / 1000
    yield row("dlopen of the library and a warm open of the reference engine", "<= 3 ms", f"{milliseconds:.2f} ms", milliseconds <= 3, "",
              f"in the memory after dlopen {kept:.1f} MB")
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout)
    besides = [name for name in needed if not name.startswith("ld-")]
    yield row("libraries that the library needs", "<= 3", str(len(besides)), len(besides) <= 3, "", ", ".join(sorted(besides)))


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    page = pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        lines = list(measure(pathlib.Path(sys.argv[1]), pathlib.Path(scratch)))
    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), os.uname().machine)
    text = f"""{HEADING}

`scripts/figures.sh --packages FOLDER` measures this section alone. Measured on {datetime.date.today().isoformat()}, {processor},
{os.cpu_count()} cores. The sides take turns, {TURNS} of each; medians.

| what | goal | measured | goal met | floor | for information |
|---|---|---|---|---|---|
""" + "\n".join(lines) + "\n"
    page.write_text(with_section(page.read_text(encoding="utf-8"), text, HEADING), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
