"""Links a program with the SDK of each engine, as its user would: with plain CMake, after the folder was moved.

usage: engine_sdk_test.py SOURCE_TREE BUILD_TREE CACHE [TEST]...

The files come from the package index, 9 MB for ONNX Runtime and 126 MB for PyTorch; CACHE keeps them. Exit status 77: the index
does not answer.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(sys.argv[1])
BUILD = pathlib.Path(sys.argv[2])
CACHE = pathlib.Path(sys.argv[3])
PROGRAMS = SOURCES / "tests/end-to-end/engine_sdk"
PRODUCT = "19 22 43 50"


def ran(command: list, environment: dict = {}) -> subprocess.CompletedProcess:
    return subprocess.run([str(one) for one in command], capture_output=True, text=True, env={**os.environ, **environment})


def engine_cache(*arguments, cache=CACHE) -> subprocess.CompletedProcess:
    return ran([BUILD / "bin/engine-cache", *arguments],
               {"ENGINEHOST_CACHE": str(cache), "XDG_CONFIG_HOME": str(CACHE / "no-configuration")})


def field(number: int, content) -> bytes:
    """A member of a protocol buffer with a number below 16: an integer, or bytes shorter than 128."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    content = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2, len(content)]) + content


def product_model() -> bytes:
    """An ONNX model with one MatMul of two 2x2 matrices."""
    size = field(1, field(1, 2)) + field(1, field(1, 2))
    type_of_all = field(2, field(1, field(1, 1) + field(2, size)))
    node = b"".join(field(1, name) for name in "ab") + field(2, "c") + field(4, "MatMul")
    graph = field(1, node) + field(2, "g") + b"".join(
        field(number, field(1, name) + type_of_all) for number, name in ((11, "a"), (11, "b"), (12, "c")))
    return field(1, 8) + field(8, field(2, 13)) + bytes([7 << 3 | 2, len(graph) & 127 | 128, len(graph) >> 7]) + graph


class EngineSdk(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, engine: str) -> dict:
        """Writes the SDK, moves it and returns the command's document with the new folder."""
        made = engine_cache("sdk", engine, self.folder / "made here", "--json", "--yes")
        document = json.loads(made.stdout)
        code = document.get("diagnosis", {}).get("code", "")
        if code in ("EH-N01", "EH-N02", "EH-N03", "EH-N04", "EH-N05", "EH-N17"):
            self.skipTest(f"the index does not answer: {code}")
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        (self.folder / "made here").rename(self.folder / "moved")
        return document | {"folder": str(self.folder / "moved")}

    def configure(self, name: str, sdk: dict, *more) -> subprocess.CompletedProcess:
        return ran(["cmake", "-S", PROGRAMS / name, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={sdk['folder']}", *more])

    def build(self, name: str, sdk: dict, *more) -> pathlib.Path:
        for step in (self.configure(name, sdk, *more), ran(["cmake", "--build", self.folder / "build"])):
            self.assertEqual(step.returncode, 0, step.stdout + step.stderr)
        return self.folder / "build" / f"uses_{name}"

    def test_onnxruntime(self):
        model = self.folder / "product.onnx"
        model.write_bytes(product_model())
        sdk = self.write("onnxruntime")
        program = self.build("onnxruntime", sdk, f"-DWANTED={sdk['version']}")
        run = ran([program, model])
        self.assertEqual((run.returncode, run.stdout.strip()), (0, f"{sdk['version']}: {PRODUCT}"), run.stderr)
        self.assertEqual(ran([self.folder / "build/from_cpp"]).returncode, 0)
        # A newer version, another major version, and headers that the library does not serve.
        major, minor, _ = (int(part) for part in sdk["version"].split("."))
        for wanted in (f"{major}.{minor + 1}", f"{major + 1}.0", "0.9"):
            refused = self.configure("onnxruntime", sdk, f"-DWANTED={wanted}")
            self.assertNotEqual(refused.returncode, 0, wanted)
            self.assertIn(sdk["version"], refused.stderr)
        headers = self.folder / "headers"
        headers.mkdir()
        for number, served in ((minor, True), (minor + 1, False)):
            (headers / "onnxruntime_c_api.h").write_text(f"#define ORT_API_VERSION {number}\n")
            configured = self.configure("onnxruntime", sdk, f"-DWANTED={major}.{minor}", f"-Donnxruntime_INCLUDE_DIR={headers}")
            self.assertEqual(configured.returncode == 0, served, configured.stderr)
            if not served:
                self.assertIn(f"versions up to {minor}", " ".join(configured.stderr.split()))

    def test_torch(self):
        if not any((BUILD / "share/enginehost/repository/files").glob("stand-in-*")):
            self.skipTest("the stand-ins were not compiled")
        sdk = self.write("pytorch")
        run = ran([self.build("torch", sdk, "-DWANTED=2.0")])
        self.assertEqual((run.returncode, run.stdout.strip()), (0, f"{sdk['version']}: {PRODUCT}"), run.stderr)

    def test_whole_without_a_network(self):
        sdk = self.write("onnxruntime")
        # The cache has the files; another one has none of them.
        again = engine_cache("sdk", "onnxruntime", self.folder / "second", "--json", "--offline")
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertEqual(json.loads(again.stdout)["downloaded"], 0)
        lists = [json.loads((pathlib.Path(one) / "enginehost-sdk.json").read_text())
                 for one in (sdk["folder"], self.folder / "second")]
        self.assertEqual(*lists)
        refused = engine_cache("sdk", "onnxruntime", self.folder / "third", "--json", "--offline", cache=self.folder / "empty")
        self.assertEqual((refused.returncode, json.loads(refused.stdout)["diagnosis"]["code"]), (4, "EH-N10"))
        self.assertFalse((self.folder / "third").exists())


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *(f"EngineSdk.{one}" for one in sys.argv[4:])], exit=False).result
    sys.exit(0 if result.wasSuccessful() and not result.skipped else 77 if result.skipped and result.wasSuccessful() else 1)
