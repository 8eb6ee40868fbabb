#!/usr/bin/env python3
"""Tests scripts/setup.sh over played programs: cmake, pip and the commands of EngineHost do what a file of the test says."""
import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Configures by noting its options as CMake does, and builds by copying the commands.
CMAKE = r'''#!/bin/bash
echo "cmake $*" >>calls
mkdir -p build/bin
if [ "$1" = --preset ]; then
  for option in "$@"; do
    case $option in
      -D*) name=${option#-D}; name=${name%%=*}
        touch build/CMakeCache.txt
        sed -i "/^$name:/d" build/CMakeCache.txt
        echo "$name:STRING=${option#*=}" >>build/CMakeCache.txt ;;
    esac
  done
  touch build/build.ninja
  echo "-- Configuring done"
  exit
fi
if [ -e hangs ]; then echo hanging >>calls; exec sleep 60; fi
if [ -e broken ]; then
  echo "[1/2] Building CXX object a.o"
  echo "FAILED: b.o"
  cat broken
  exit 1
fi
if cmp -s build/CMakeCache.txt build/built; then echo "ninja: no work to do."; exit; fi
echo "[2/2] Linking CXX executable bin/engine-info"
cp commands/* build/bin
cp build/CMakeCache.txt build/built
'''

# Opens an engine, or ends with the status that the file status-ENGINE holds. The file plan-ENGINE is its plan.
ENGINE_INFO = r'''#!/bin/bash
echo "engine-info $*" >>calls
status=$(cat "status-$1" 2>/dev/null || echo 0)
if [[ " $* " == *" --plan "* ]]; then cat "plan-$1"; grep -q chosen "plan-$1"; exit $((3 * $?)); fi
if [[ " $* " == *" --json "* ]]; then
  if [ $status -eq 0 ]; then cat "plan-$1"; else echo '{"diagnosis": {"evidence": [{"what": "license", "value": "Toy-EULA"}]}}'; fi
  exit $status
fi
[ $status -ne 0 ] || echo "$1 opened"
exit $status
'''

PYTHON = r'''#!/bin/bash
case " $* " in
  *" -m pip --version "*) ;;
  *" index versions "*) [ ! -e no-network ] || { echo "ERROR: no route to host" >&2; exit 1; } ;;
  *" download "*) while [ "$1" != --dest ]; do shift; done; mkdir -p "$2"; touch "$2/package.whl" ;;
  *" scripts/example_arrays.py "*) ;;
  *" engines/pytorch/fetch_headers.py "*) echo "headers $*" >>calls; exit "$(cat status-headers 2>/dev/null || echo 0)" ;;
  *" engines/cuda/fetch_parts.py "*) exit 3 ;;
  *) exec REAL "$@" ;;
esac
'''

INSTALL = r'''#!/bin/bash
echo "All 22 packages are installed; nothing to do."
'''


def plan(*candidates):
    """A plan of builds: (version, the codes of what they lack)."""
    chosen = next((i for i, one in enumerate(candidates) if not one[1]), None)
    return json.dumps({"outcome": {"build": f"toy-{chosen}"}, "candidates": [
        {"build": f"toy-{i}", "version": version, "verdict": "chosen" if i == chosen else "unavailable",
         "checks": [{"result": "no", "code": code} for code in codes]} for i, (version, codes) in enumerate(candidates)]})


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name) / "a tree"
        (self.root / "scripts").mkdir(parents=True)
        for name in ("setup.sh", "common.sh", "missing_adapter.py"):
            shutil.copy(ROOT / "scripts" / name, self.root / "scripts")
        # The played download writes an empty package.
        script = (self.root / "scripts/setup.sh").read_text()
        script, digests = re.subn(r"=[0-9a-f]{64}\b", "=" + hashlib.sha256(b"").hexdigest(), script)
        self.assertEqual(digests, 2)
        (self.root / "scripts/setup.sh").write_text(script)
        self.program("scripts/install-dependencies.sh", INSTALL)
        self.program("played/cmake", CMAKE)
        self.program("played/python3", PYTHON.replace("REAL", sys.executable))
        self.program("commands/engine-info", ENGINE_INFO)
        self.program("commands/engine-run", "#!/bin/bash\n")
        self.write("plan-reference", plan(("0.1.0", [])))
        self.write("plan-onnxruntime", plan(("1.27.0", [])))
        self.write("plan-pytorch", plan(("2.15.0", [])))

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def program(self, path, text):
        self.write(path, text)
        (self.root / path).chmod(0o755)

    def environment(self):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ENGINEHOST_")}
        return {**kept, "PATH": f"{self.root}/played:{kept['PATH']}", "LC_ALL": "C.UTF-8"}

    def run_it(self, *arguments, expect=0):
        done = subprocess.run([self.root / "scripts/setup.sh", *arguments], env=self.environment(), cwd="/", timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, expect, done.stdout)
        return done.stdout

    def closing(self, said):
        lines = said.partition("== Ready ==\n")[2].splitlines()
        self.assertTrue(1 <= len(lines) <= 8, said)
        return "\n".join(lines)

    def calls(self):
        return (self.root / "calls").read_text()

    def test_the_closing_lines_name_the_engines_that_answered_and_what_is_not_built(self):
        said = self.closing(self.run_it())
        self.assertIn("answered a model: reference 0.1.0, onnxruntime 1.27.0, pytorch 2.15.0", said)
        self.assertIn("scripts/setup.sh --all", said)
        self.assertIn(f"{self.root}/build/bin:$PATH", said)
        self.assertNotIn("waits", said)
        self.assertNotIn("Nothing", said)

    def test_it_says_first_what_it_does_and_how_long_that_takes(self):
        first = self.run_it().partition("\n\n== ")[0]
        self.assertIn("ONNX Runtime and PyTorch answer a model", first)
        self.assertRegex(first, r"about (a minute|\d+ minutes)")
        self.assertLessEqual(max(map(len, first.splitlines())), 80)

    def test_a_second_run_says_that_nothing_had_to_be_done(self):
        self.run_it()
        said = self.run_it()
        self.assertIn("Nothing had to be installed, fetched or built.", self.closing(said))
        self.assertEqual(self.calls().count("cmake --preset"), 1)

    def test_a_package_with_other_bytes_is_fetched_again(self):
        packages = [self.root / "build/example" / name for name in ("magika-1.0.3.whl", "silero-vad-5.1.2.whl")]
        for package in packages:
            self.write(package.relative_to(self.root), "not the published bytes")
        self.run_it()
        self.assertEqual([package.read_bytes() for package in packages], [b"", b""])

    def test_the_adapter_of_the_first_release_that_lacks_only_that_is_made(self):
        self.write("plan-pytorch", plan(("2.16.0", ["EH-G01", "EH-S12"]), ("2.15.0", ["EH-S12"]), ("2.0.1", ["EH-S12"])))
        self.write("status-pytorch", "3")
        self.run_it()
        self.assertIn("fetch_headers.py --release 2.15.0 build/torch", self.calls())
        self.assertIn(f"-DENGINEHOST_TORCH_ROOT={self.root}/build/torch/2.15.0", self.calls())
        self.assertIn("-DENGINEHOST_ENGINES=reference;onnxruntime;pytorch", self.calls())

    def test_headers_that_cannot_be_fetched_leave_pytorch_waiting(self):
        self.write("plan-pytorch", plan(("2.15.0", ["EH-S12"])))
        self.write("status-headers", "1")
        self.write("status-pytorch", "3")
        said = self.closing(self.run_it())
        self.assertIn("waits: pytorch, for its headers", said)
        self.assertIn("answered a model: reference 0.1.0, onnxruntime 1.27.0\n", said)

    def test_without_a_network_the_reference_engine_answers_and_the_rest_waits(self):
        self.write("no-network", "")
        self.write("status-onnxruntime", "4")
        whole = self.run_it()
        self.assertIn("skipped: the package index cannot be reached (pip says: ERROR: no route to host)", whole)
        said = self.closing(whole)
        self.assertIn("answered a model: reference 0.1.0\n", said)
        self.assertIn("waits: onnxruntime, pytorch, for the package index: scripts/setup.sh\n", said)
        self.assertIn("engine-run reference build/example/two-layers.model", said)
        self.assertNotIn("headers", self.calls())

    def test_without_a_network_engines_that_are_here_answer_again(self):
        self.run_it()
        self.write("no-network", "")
        said = self.run_it()
        self.assertIn("pytorch 2.15.0", self.closing(said))
        self.assertIn("engine-info onnxruntime --offline", self.calls())

    def test_a_license_that_nobody_accepted_is_named_with_the_command_that_goes_on(self):
        self.write("status-pytorch", "8")
        said = self.closing(self.run_it())
        self.assertIn("waits: pytorch, for your consent to a license: scripts/setup.sh --accept-license Toy-EULA", said)

    def test_an_onnxruntime_that_does_not_open_ends_the_script_with_its_status(self):
        self.write("status-onnxruntime", "6")
        said = self.run_it(expect=6)
        self.assertTrue(said.endswith("setup.sh: stopped, for the reason above; the next run goes on from here\n"), said)

    def test_all_asks_for_the_licenses_of_cuda_in_one_place(self):
        said = self.run_it("--all")
        self.assertEqual(said.count("LicenseRef-NVIDIA-cuDNN-SLA"), 1, said)
        self.assertIn("waits: cuda, for your consent", self.closing(said))
        self.assertNotIn("not built", self.closing(said))
        self.assertIn("-DENGINEHOST_ENGINES=all -DENGINEHOST_TOOLS=ON", self.calls())
        self.assertNotIn("LicenseRef", self.run_it())

    def test_a_compile_error_is_printed_whole(self):
        error = "".join(f"b.cpp:{line}: error: wrong\n" for line in range(200))
        self.write("broken", error)
        said = self.run_it(expect=1)
        self.assertIn("FAILED: b.o\n" + error, said)
        self.assertNotIn("[1/2]", said)
        self.assertIn("setup.sh: building failed; build/setup.log has all of its output\n", said)
        (self.root / "broken").unlink()
        self.assertIn("pytorch 2.15.0", self.closing(self.run_it()))

    def start(self, **options):
        return subprocess.Popen([self.root / "scripts/setup.sh"], env=self.environment(), cwd="/",
                                start_new_session=True, **options)

    def wait_for_the_build(self):
        for _ in range(600):
            if (self.root / "calls").exists() and "hanging" in self.calls():
                return
            time.sleep(0.05)
        self.fail("the build did not begin")

    def test_control_c_ends_with_one_clear_line_and_the_next_run_goes_on(self):
        self.write("hangs", "")
        started = self.start(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.wait_for_the_build()
        os.killpg(started.pid, signal.SIGINT)
        said = started.communicate(timeout=30)[0]
        self.assertEqual(started.returncode, 130, said)
        self.assertEqual(said.splitlines()[-1], "setup.sh: stopped; run it again to go on from here")
        (self.root / "hangs").unlink()
        self.assertIn("pytorch 2.15.0", self.closing(self.run_it()))

    def test_a_run_after_a_killed_one_waits_for_what_it_left_behind(self):
        self.write("hangs", "")
        started = self.start(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_the_build()
        started.kill()
        started.wait()
        (self.root / "hangs").unlink()
        second = self.start(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(1)
        self.assertIsNone(second.poll())
        os.killpg(started.pid, signal.SIGKILL)
        said = second.communicate(timeout=60)[0]
        self.assertEqual(second.returncode, 0, said)
        self.assertIn("Another run works in", said)

    def test_a_terminal_sees_one_line_that_changes(self):
        main, side = pty.openpty()
        started = self.start(stdin=side, stdout=side, stderr=side)
        os.close(side)
        said = b""
        try:
            while more := os.read(main, 4096):
                said += more
        except OSError:  # the last writer is gone
            pass
        os.close(main)
        self.assertEqual(started.wait(timeout=30), 0, said)
        self.assertIn(b"\r  building: 2 of 2 steps, ", said)
        self.assertNotIn(b"Linking", said)

    def test_unknown_arguments_are_wrong_usage(self):
        self.assertIn("unknown argument --al (known: --all, --accept-license ID)", self.run_it("--al", expect=2))
        self.assertIn("--accept-license needs", self.run_it("--accept-license", expect=2))
        self.assertIn("--all  ", self.run_it("--help"))


if __name__ == "__main__":
    unittest.main()
