#!/usr/bin/env python3
"""Checks EngineHost on a machine with an NVIDIA GPU, in one command and without network.

Steps, each a row of the report:
- detection against nvidia-smi: driver, name, memory, compute capability of every device;
- for each build of the packed repository, engine-info's prediction and the result of an open by its flavor alone, with
  the self-test on every device (level 2: a graph with a known answer);
- installations of the machine (PyTorch, ONNX Runtime, CUDA's libraries in Python packages) opened in place. The PyTorch
  adapter is compiled for the PyTorch that was found if no packed one fits and a C++ compiler is installed;
- --bench on every engine that opened with a GPU;
- every operation of the CUDA engine on many inputs against the reference engine, in host memory and on the device, by a
  program that opens both through the SDK (gpu_compare_operations), with the times of opening;
- compute-sanitizer over the CUDA engine's self-test and over that program, where that tool is installed.
Steps that need files which are not packed, or a missing tool, are listed as not run, with the reason.

    python3 check.py --output REPORT [--keep FOLDER]

Writes REPORT.md and REPORT.json. Exit status: 0 nothing failed, 1 something failed, 3 no NVIDIA GPU on this machine.
"""
import argparse
import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile

RUN_SECONDS = 600
COMPARE_SECONDS = 50  # no case begins later; the whole check ends within four minutes


def run(argv, environment=None, seconds=RUN_SECONDS):
    """Status, output and errors of a program; status None if it cannot be started or takes too long."""
    try:
        ended = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
        return ended.returncode, ended.stdout, ended.stderr
    except subprocess.TimeoutExpired as error:
        reported = [error.stdout or "", error.stderr or ""]  # bytes, whatever `text` says
        return None, *(one.decode(errors="replace") if isinstance(one, bytes) else one for one in reported)
    except OSError as error:
        return None, "", str(error)


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


class Report:
    def __init__(self):
        self.rows = []

    def add(self, step, expected, observed, verdict):
        """verdict: "agrees", "FAILED" or "not run"."""
        self.rows.append({"step": step, "expected": expected, "observed": observed, "verdict": verdict})
        print(f"{verdict:8} {step}: {observed}", flush=True)

    def compare(self, step, expected, observed):
        self.add(step, str(expected), str(observed), "agrees" if expected == observed else "FAILED")

    def failed(self):
        return any(row["verdict"] == "FAILED" for row in self.rows)


class Host:
    """The packed commands, with their own cache and settings."""

    def __init__(self, folder, work):
        self.bin = os.path.join(folder, "bin")
        self.repository = os.path.join(folder, "share", "enginehost", "repository")
        self.environment = dict(os.environ, HOME=work, XDG_CONFIG_HOME=work + "/config", ENGINEHOST_CACHE=work + "/cache")

    def json(self, *arguments, command="engine-info"):
        status, output, errors = run([os.path.join(self.bin, command), *arguments, "--json"], self.environment)
        try:
            return status, json.loads(output)
        except ValueError:
            return status, {"diagnosis": {"code": "no JSON", "cause": first_line(errors) or f"status {status}"}}


def value_of(fact):
    return fact.get("value") if isinstance(fact, dict) else None


def cause_of(document):
    diagnosis = document.get("diagnosis") or {}
    return f"{diagnosis.get('code', '?')} {diagnosis.get('cause', '')}".strip()


def devices_by_nvidia_smi():
    status, output, errors = run(
        ["nvidia-smi", "--query-gpu=name,memory.total,compute_cap,driver_version", "--format=csv,noheader,nounits"])
    if status != 0:
        return None, first_line(errors or output)
    rows = [[field.strip() for field in line.split(",")] for line in output.splitlines() if line.strip()]
    return [{"name": row[0], "mebibytes": int(row[1]), "compute": row[2], "driver": row[3]} for row in rows], ""


def check_detection(host, report):
    truth, why = devices_by_nvidia_smi()
    status, document = host.json()
    if status != 0:
        report.add("engine-info describes the machine", "status 0", cause_of(document), "FAILED")
        return document
    cuda = document["platform"]["cuda"]
    if truth is None:
        report.add("detection against nvidia-smi", "", "nvidia-smi: " + why, "not run")
        return document
    report.compare("driver version", truth[0]["driver"], str(value_of(cuda["driver"])))
    found = value_of(cuda["devices"]) or []
    report.compare("number of devices", len(truth), len(found))
    for i, (theirs, ours) in enumerate(zip(truth, found)):
        report.compare(f"device {i}: name", theirs["name"], ours.get("name"))
        report.compare(f"device {i}: compute capability", theirs["compute"], str(ours.get("compute_capability")))
        # nvidia-smi also counts the driver's own memory.
        total = ours.get("memory") or 0
        share = total / (theirs["mebibytes"] * 2**20)
        report.add(f"device {i}: memory", f"{theirs['mebibytes']} MiB", f"{total >> 20} MiB",
                   "agrees" if 0.93 < share <= 1.001 else "FAILED")
    return document


def likely_installations():
    """Python environments here that hold an engine or CUDA's libraries."""
    folders = [sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"], *sys.path,
               *glob.glob("/opt/conda/lib/python3.*/site-packages"), *glob.glob("/opt/conda/envs/*")]
    found = []
    for folder in folders:
        real = os.path.realpath(folder) if folder else ""
        holds = any(os.path.isdir(os.path.join(real, name)) for name in ("torch", "onnxruntime", "nvidia", "conda-meta"))
        if real and holds and real not in found:
            found.append(real)
    return found


def engines_of(host):
    def read(path):
        with open(os.path.join(host.repository, path), encoding="utf-8") as file:
            return json.load(file)

    return sorted({read(entry["path"])["engine"] for entry in read("index.json")["manifests"]})


def names_of_devices(outcome):
    return [device["device"] for device in outcome.get("devices", [])]


def is_gpu(flavor):
    return flavor.startswith(("cu", "rocm"))


def check_engine(host, report, engine, places, opened):
    """The prediction against the result, for every flavor of the engine that is for GPUs."""
    _, plan = host.json(engine, "--plan", "--explain", "--offline", *places)
    candidates = plan.get("candidates", [])
    for flavor in sorted({c["flavor"] for c in candidates if is_gpu(c["flavor"])}):
        of_flavor = [c for c in candidates if c["flavor"] == flavor]
        verdicts = [candidate["verdict"] for candidate in of_flavor]
        predicted = "fits" if "chosen" in verdicts or "fits" in verdicts else verdicts[0]
        _, document = host.json(engine, "--require", flavor, "--offline", "--self-test", *places)
        outcome = document.get("outcome") or {}
        if outcome.get("state") == "opened":
            observed = f"opened {outcome['build']} on {', '.join(names_of_devices(outcome))}"
            verdict = "agrees" if predicted == "fits" else "FAILED"
            opened.append((engine, flavor))
        else:
            # A build that is predicted not to fit is refused without an attempt; files that are not packed are missing.
            observed, verdict = cause_of(document), "FAILED" if predicted == "fits" else "not run"
        report.add(f"{engine} {flavor}", f"predicted: {predicted}", observed, verdict)


def compile_pytorch(folder, work, report):
    """The PyTorch adapter for the PyTorch of this Python; the path of the plugin, or None."""
    status, output, _ = run([sys.executable, "-c", "import torch;print(torch.__path__[0]);print(torch.__version__);"
                             "print(int(torch._C._GLIBCXX_USE_CXX11_ABI))"])
    if status != 0:
        report.add("pytorch as an installation", "", "this Python has no torch", "not run")
        return None, None
    torch, version, abi = output.split()[-3:]
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        report.add(f"pytorch {version} adapter", "", "there is no C++ compiler", "not run")
        return None, None
    source = os.path.join(folder, "source")
    plugin = os.path.join(work, "libengine_pytorch.so")
    names = ("plugin", "cuda_part", "devices", "tensors", "operations", "model", "ports", "results", "selftest")
    with open(torch + "/include/ATen/ATen.h", encoding="utf-8") as header:
        standard = "20" if "#error C++20" in header.read() else "17"
    status, _, errors = run([
        compiler, f"-std=c++{standard}", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-w",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}", '-DENGINEHOST_PLUGIN_VERSION="0"', '-DENGINEHOST_PLUGIN_BUILD="check"',
        "-I", source, "-I", source + "/plugin-api/include", "-I", torch + "/include",
        "-I", torch + "/include/torch/csrc/api/include",
        *[f"{source}/engines/pytorch/{name}.cpp" for name in names],
        f"-Wl,--version-script={source}/engines/support/exports.map", "-L", torch + "/lib", "-ltorch_cpu", "-lc10",
        "-ldl", f"-Wl,-rpath,{torch}/lib", "-o", plugin])
    if status != 0:
        report.add(f"pytorch {version} adapter compiles", "status 0", first_line(errors), "FAILED")
        return None, None
    return plugin, version


def check_pytorch_of_this_python(host, folder, work, report, opened):
    plugin, version = compile_pytorch(folder, work, report)
    if plugin is None:
        return
    status, document = host.json("--plugin", plugin, "--self-test")
    outcome = document.get("outcome") or {}
    devices = names_of_devices(outcome)
    on_gpu = any(device.startswith("cuda") for device in devices)
    report.add(f"pytorch {version} of this Python", "opens with a cuda device",
               ", ".join(devices) if status == 0 else cause_of(document),
               "agrees" if status == 0 and on_gpu else "FAILED")
    if status == 0 and on_gpu:
        opened.append(("--plugin", plugin))


def check_bench(host, report, opened, places):
    figures = []
    for what in opened:
        arguments = list(what) if what[0] == "--plugin" else [what[0], "--require", what[1], "--offline", *places]
        status, document = host.json(*arguments, "--bench")
        name = os.path.basename(what[1]) if what[0] == "--plugin" else " ".join(what)
        report.add(f"--bench of {name}", "status 0", f"status {status}" if status == 0 else cause_of(document),
                   "agrees" if status == 0 else "FAILED")
        figures.append({"engine": name, "bench": document.get("bench")})
    return figures


def comparison(host, engine, flavor, places, *more):
    return [os.path.join(host.bin, "gpu_compare_operations"), "--first", "reference", "--second", engine, "--second-require",
            flavor, "--offline", "--trace", "--seconds", str(COMPARE_SECONDS), *more, *places]


def last_case(errors):
    return next((line for line in reversed(errors.splitlines()) if re.match(r"\d+: ", line)), "no case begun")


def check_operations(host, report, engine, flavor, places):
    """The output of comparing an engine's operations with the reference engine's, from an empty cache."""
    step = f"{engine} {flavor} against reference"
    with tempfile.TemporaryDirectory(prefix="enginehost-compare-") as cache:
        status, output, errors = run(comparison(host, engine, flavor, places), dict(host.environment, ENGINEHOST_CACHE=cache),
                                     2 * COMPARE_SECONDS)
    for line in output.splitlines():
        tallied = re.match(r"(\w+): (\d+ agree, .*?, (\d+) disagree; .*)", line)
        if tallied:
            name, observed, disagree = tallied.groups()
            report.add(f"{step}: {name}", "0 disagree", observed, "agrees" if disagree == "0" else "FAILED")
        elif line.startswith("opening "):
            report.add(f"{step}: {line.partition(': ')[0]}", "", line.partition(": ")[2], "agrees")
        elif line.endswith("in the time given") or line.startswith("DISAGREE"):
            report.add(step, "", line, "FAILED" if line.startswith("DISAGREE") else "not run")
    if status not in (0, 1):
        why = {3: first_line(errors), None: f"not at its end after {2 * COMPARE_SECONDS} s, in " + last_case(errors)}
        report.add(step, "status 0", why.get(status, f"status {status} in {last_case(errors)}"), "FAILED")
    return output


def sanitizer():
    return shutil.which("compute-sanitizer") or next(iter(glob.glob("/usr/local/cuda*/bin/compute-sanitizer")), None)


def check_operations_with_sanitizer(host, report, engine, flavor, places):
    tool, step = sanitizer(), f"compute-sanitizer over {engine} {flavor} against reference"
    if tool is None:
        report.add(step, "", "the tool is not installed", "not run")
        return
    # Each instruction takes many times as long there: small inputs, and what is not begun in time is left out.
    argv = [tool, "--tool", "memcheck", "--error-exitcode", "99",
            *comparison(host, engine, flavor, places, "--quick", "--no-probe")]
    status, output, errors = run(argv, host.environment, 2 * COMPARE_SECONDS)
    if status is None:
        report.add(step, "0 errors", "not at its end in time, in " + last_case(errors), "not run")
        return
    summary = re.search(r"ERROR SUMMARY: .*", output + errors)
    left_out = re.search(r"\d+ of \d+ cases were not run", output)
    observed = (summary.group(0) if summary else f"status {status}") + (", " + left_out.group(0) if left_out else "")
    report.add(step, "0 errors", observed, "agrees" if status == 0 else "FAILED")


def check_with_sanitizer(host, report, opened, places):
    tool = sanitizer()
    cuda = next((what for what in opened if what[0] == "cuda"), None)
    if tool is None or cuda is None:
        why = "the tool is not installed" if tool is None else "the cuda engine did not open"
        report.add("compute-sanitizer over the cuda engine", "", why, "not run")
        return
    status, output, errors = run([tool, "--error-exitcode", "99", os.path.join(host.bin, "engine-info"), "cuda", "--require",
                                  cuda[1], "--offline", "--self-test", "--no-probe", *places], host.environment)
    summary = re.search(r"ERROR SUMMARY: .*", output + errors)
    report.add("compute-sanitizer over the cuda engine", "0 errors", summary.group(0) if summary else f"status {status}",
               "agrees" if status == 0 else "FAILED")


def write(report, figures, compared, document, output):
    gpu = next((row["observed"] for row in report.rows if row["step"] == "device 0: name"), "no GPU")
    lines = [f"# Checked on {platform.node() or 'a machine'}: {gpu}", "", "| step | expected | observed | |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(str(row[key]).replace("|", "\\|").replace("\n", " ")
                                for key in ("step", "expected", "observed", "verdict")) + " |" for row in report.rows]
    with open(output + ".md", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    with open(output + ".json", "w", encoding="utf-8") as file:
        json.dump({"rows": report.rows, "bench": figures, "compared": compared, "platform": document.get("platform")}, file, indent=1)
    print(f"written: {output}.md, {output}.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True, help="where REPORT.md and REPORT.json go, without ending")
    parser.add_argument("--keep", help="work here and leave everything; else a folder that is removed")
    arguments = parser.parse_args()
    work = os.path.abspath(arguments.keep) if arguments.keep else tempfile.mkdtemp(prefix="enginehost-gpu-")
    os.makedirs(work, exist_ok=True)
    try:
        with tarfile.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "enginehost.tar.xz")) as archive:
            archive.extractall(work)
        folder = os.path.join(work, "enginehost")
        host, report, opened = Host(folder, work), Report(), []
        status, _, errors = run([os.path.join(host.bin, "engine-info"), "--version"])
        if status != 0:
            print("the carried commands do not run here (an older glibc than on the machine that packed them?): "
                  + first_line(errors), file=sys.stderr)
            return 1
        document = check_detection(host, report)
        places = ["--repository", host.repository, "--accept-license", "LicenseRef-NVIDIA-CUDA-EULA",
                  "--accept-license", "LicenseRef-NVIDIA-cuDNN-SLA"]
        for place in likely_installations():
            places += ["--installation", place]
        for engine in engines_of(host):
            check_engine(host, report, engine, places, opened)
        check_pytorch_of_this_python(host, folder, work, report, opened)
        figures = check_bench(host, report, opened, places)
        compared = ""
        for engine, flavor in [what for what in opened if what[0] == "cuda"]:
            compared += check_operations(host, report, engine, flavor, places)
            check_operations_with_sanitizer(host, report, engine, flavor, places)
        check_with_sanitizer(host, report, opened, places)
        write(report, figures, compared, document, arguments.output)
        if not value_of(document.get("platform", {}).get("cuda", {}).get("devices")):
            print("there is no NVIDIA GPU that EngineHost could see here", file=sys.stderr)
            return 3
        return 1 if report.failed() else 0
    finally:
        if not arguments.keep:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
