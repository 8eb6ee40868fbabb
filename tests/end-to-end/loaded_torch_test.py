#!/usr/bin/env python3
"""Opens PyTorch in programs that have loaded libtorch of published wheels themselves, as after "import torch".

usage: loaded_torch_test.py SOURCE BUILD DOWNLOADS

The wheels are those of two Pythons and of two releases; DOWNLOADS keeps them. Their CUDA libraries are the build's
stand-ins. Exit status 77: the package index or a wheel cannot be reached.
"""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, DOWNLOADS = (pathlib.Path(argument) for argument in sys.argv[1:4])
RELEASE, OTHER_RELEASE = "2.15.0", "2.13.0"
LICENSE = "LicenseRef-NVIDIA-CUDA-EULA"
LIBRARIES = ["torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp*", "torch/lib/libtorch.so"]


class Request(ctypes.Structure):
    """The first fields of enginehost_request: the library takes the size of an older header."""
    _fields_ = [("size", ctypes.c_size_t), ("engine", ctypes.c_char_p), ("version", ctypes.c_char_p)]


class Check(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("computed_on", ctypes.c_char_p),
                ("milliseconds", ctypes.c_double), ("cpu_milliseconds", ctypes.c_double),
                ("memory_total", ctypes.c_uint64), ("memory_free", ctypes.c_uint64), ("reopened", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]


def program(loads: list, mode: int, engine: str) -> None:
    """Loads the libraries, then opens the engine and computes with it. Prints what came out as JSON."""
    for file in loads:
        ctypes.CDLL(file, mode=mode)
    library = ctypes.CDLL(str(BUILD / "lib/libenginehost.so"))
    for name in ("build", "report"):
        getattr(library, f"enginehost_engine_{name}").restype = ctypes.c_char_p
    library.enginehost_error_code.restype = library.enginehost_error_text.restype = ctypes.c_char_p
    name, _, version = engine.partition("@")
    request = Request(ctypes.sizeof(Request), name.encode(), version.encode() or None)
    opened, error = ctypes.c_void_p(), ctypes.c_void_p()
    status = library.enginehost_open(ctypes.byref(request), ctypes.byref(opened), ctypes.byref(error))
    if status:
        print(json.dumps({"status": status, "code": library.enginehost_error_code(error).decode(),
                          "text": library.enginehost_error_text(error).decode()}))
        return
    check = Check(ctypes.sizeof(Check))
    computed = library.enginehost_engine_check(opened, b"cpu", None, ctypes.byref(check), ctypes.byref(error))
    print(json.dumps({"status": status, "build": library.enginehost_engine_build(opened).decode(), "check": computed,
                      "in_child": in_child(library, opened),
                      "report": json.loads(library.enginehost_engine_report(opened))}))


def in_child(library: ctypes.CDLL, engine: ctypes.c_void_p) -> str:
    """The code of a computation with the engine in a child of fork(), which then frees it; a signal if it hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        error, check = ctypes.c_void_p(), Check(ctypes.sizeof(Check))
        library.enginehost_engine_check(engine, b"cpu", None, ctypes.byref(check), ctypes.byref(error))
        library.enginehost_engine_free(engine)
        os.write(writing, library.enginehost_error_code(error))
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    return os.read(reading, 100).decode() if status == 0 else f"signal {os.WTERMSIG(status)}"


def run(loads: list, engine: str, mode: int = ctypes.RTLD_LOCAL) -> dict:
    command = [sys.executable, "-B", __file__, *sys.argv[1:4], "--program",
               json.dumps([list(map(str, loads)), mode, engine])]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if ended.returncode != 0:
        return {"status": ended.returncode, "code": "", "text": ended.stdout + ended.stderr}
    return json.loads(ended.stdout.splitlines()[-1])


def unreachable(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(77)


def wheel(python: str, release: str) -> pathlib.Path:
    """The folder of packages with the libraries of that wheel."""
    fetched = subprocess.run([sys.executable, "-B", SOURCE / "tests/engines/fetch_wheel.py", "--python", python,
                              DOWNLOADS / f"loaded-torch-{python}", "torch", release, *LIBRARIES,
                              "*.dist-info/METADATA"], capture_output=True, text=True)
    if fetched.returncode != 0:
        unreachable(fetched.stderr)
    folder = pathlib.Path(fetched.stdout.strip())
    for library in ("libcudart.so.13", "libcupti.so.13"):
        shutil.copy(BUILD / "engines/pytorch/stand_ins" / library, folder / "torch/lib" / library)
    return folder


class LoadedTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["ENGINEHOST_CACHE"] = str(DOWNLOADS / "loaded-torch-cache")
        for engine in (f"pytorch@{RELEASE}", "onnxruntime"):
            fetched = subprocess.run([BUILD / "bin/engine-info", engine, "--yes", "--accept-license", LICENSE],
                                     capture_output=True, text=True)
            if fetched.returncode != 0:
                unreachable(fetched.stderr)
        cls.wheels = {(python, release): wheel(python, release)
                      for python, release in (("3.11", RELEASE), ("3.12", RELEASE), ("3.11", OTHER_RELEASE))}

    def loads(self, python, release):
        folder = self.wheels[python, release] / "torch/lib"
        return [folder / "libcudart.so.13", folder / "libcupti.so.13", folder / "libtorch_cpu.so"]

    def expect_used(self, came, folder):
        self.assertEqual(came["status"], 0, came)
        self.assertEqual(came["check"], 0, came)
        warnings = [one["diagnosis"] for one in came["report"]["warnings"] if "diagnosis" in one]
        warning = next(one for one in warnings if one["code"] == "EH-L37")
        paths = [one["value"] for one in warning["evidence"] if one["what"] == "path"]
        self.assertIn(str(folder / "torch/lib/libtorch_cpu.so"), paths)
        self.assertIn("not verified", warning["cause"])

    def test_is_used_whichever_python_its_wheel_is_for(self):
        for python in ("3.11", "3.12"):
            with self.subTest(python=python):
                came = run(self.loads(python, RELEASE), f"pytorch@{RELEASE}")
                self.expect_used(came, self.wheels[python, RELEASE])

    def test_is_used_where_all_libraries_see_it(self):
        came = run(self.loads("3.11", RELEASE), f"pytorch@{RELEASE}", ctypes.RTLD_GLOBAL)
        self.expect_used(came, self.wheels["3.11", RELEASE])

    def test_of_another_release_is_l17_and_the_program_goes_on(self):
        came = run(self.loads("3.11", OTHER_RELEASE), f"pytorch@{RELEASE}")
        self.assertEqual((came["status"], came["code"]), (6, "EH-L17"), came)

    def test_under_another_name_is_l17_and_the_program_goes_on(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for file in (self.wheels["3.11", RELEASE] / "torch/lib").iterdir():
                if file.name != "libtorch_cpu.so":
                    os.symlink(file, folder / file.name)
            renamed = folder / "libtorch_cpu-1a2b3c4d.so"
            shutil.copy(self.wheels["3.11", RELEASE] / "torch/lib/libtorch_cpu.so", renamed)
            subprocess.run(["patchelf", "--set-soname", renamed.name, renamed], check=True)
            loads = [folder / "libcudart.so.13", folder / "libcupti.so.13", folder / "libgomp.so.1",
                     folder / "libc10.so", renamed]
            came = run(loads, f"pytorch@{RELEASE}")
            self.assertEqual((came["status"], came["code"]), (6, "EH-L17"), came)
            self.assertIn(renamed.name, came["text"])

    def test_is_refused_in_a_child_of_its_program(self):
        for engine in (f"pytorch@{RELEASE}", "onnxruntime"):
            with self.subTest(engine=engine):
                self.assertEqual(run([], engine).get("in_child"), "EH-P53")

    def test_does_not_keep_another_engine_out(self):
        came = run(self.loads("3.11", OTHER_RELEASE), "onnxruntime")
        self.assertEqual((came["status"], came.get("check")), (0, 0), came)
        self.assertNotIn("EH-L37", json.dumps(came["report"]["warnings"]))

    def test_leaves_nothing_remembered(self):
        run(self.loads("3.11", OTHER_RELEASE), f"pytorch@{RELEASE}")
        came = run([], f"pytorch@{RELEASE}")
        self.assertEqual(came["status"], 0, came)
        self.assertNotIn("EH-L37", json.dumps(came["report"]["warnings"]))


if __name__ == "__main__":
    if len(sys.argv) > 5 and sys.argv[4] == "--program":
        program(*json.loads(sys.argv[5]))
    else:
        unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
