#!/usr/bin/env python3
"""Tests of the files that scripts/package.sh makes.

usage: packages_test.py FOLDER [x86_64|aarch64] [unittest arguments]

FOLDER holds one .tar.xz and one wheel for that processor, this machine's if none is named. Files for aarch64 are also read on
other machines, and their commands run there by scripts/arm64-run.sh; what needs a compiler or Python for aarch64 is skipped by
name. Nothing is fetched; roots_test.py has what needs other systems and the package index.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
HERE = os.uname().machine
PROCESSOR = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in ("x86_64", "aarch64") else HERE
FOREIGN = PROCESSOR != HERE
OF_THIS_MACHINE = unittest.skipIf(FOREIGN, f"needs a compiler or Python for {PROCESSOR}")
EMULATED = [ROOT / "scripts/arm64-run.sh"] if FOREIGN else []
COMMANDS = ("engine-info", "engine-run", "engine-cache", "engine-manifest")
# The C library is these files before glibc 2.34, and the first of them since.
LIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
LIMIT = 20_000_000
# A recorded machine of each platform.
MACHINES = {"linux-x86_64": "linux-rhel8-no-gpu", "linux-aarch64": "linux-arm64-server-gh200-driver580",
            "windows-x86_64": "windows11-driver527-rtx3060", "macos-arm64": "macos-arm64-m2", "macos-x86_64": "macos-x86_64-intel"}


def one(pattern: str) -> pathlib.Path:
    found = [file for file in sorted(FOLDER.glob(pattern)) if "-debug" not in file.name and PROCESSOR in file.name]
    assert len(found) == 1, f"{FOLDER} holds {len(found)} of {pattern}"
    return found[0]


def dynamic(file: pathlib.Path) -> dict:
    said = subprocess.run(["readelf", "-dW", file], check=True, capture_output=True, text=True).stdout
    found = {}
    for kind, value in re.findall(r"\((NEEDED|SONAME|RPATH|RUNPATH)\)[^\[]*\[([^\]]*)\]", said):
        found.setdefault(kind, []).append(value)
    return found


def elf_files(folder: pathlib.Path) -> list:
    return [file for file in sorted(folder.rglob("*"))
            if file.is_file() and not file.is_symlink() and file.read_bytes()[:4] == b"\x7fELF"]


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        with tarfile.open(one("*.tar.xz")) as archive:
            archive.extractall(cls.folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(cls.folder)
        cls.tree = next(cls.folder.iterdir())
        cls.venv = cls.folder / "venv"
        if FOREIGN:
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--only-binary", ":all:",
                            "--platform", f"manylinux_2_28_{PROCESSOR}", "--target", cls.venv, one("*.whl")], check=True)
            cls.package = cls.venv / "enginehost"
            return
        subprocess.run([sys.executable, "-m", "venv", cls.venv], check=True)
        subprocess.run([cls.venv / "bin/pip", "install", "--quiet", "--no-index", one("*.whl")], check=True)
        cls.package = next(cls.venv.glob("lib/python3*/site-packages/enginehost"))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_command(self, program: pathlib.Path, *arguments, before=(), environment=None, **options):
        """Runs it with an empty home and without the settings of this machine."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        of_child = {"PATH": "/usr/bin:/bin", "HOME": str(home), "ENGINEHOST_OFFLINE": "1", **(environment or {})}
        return subprocess.run([*EMULATED, *before, program, *arguments], env=of_child, text=True, capture_output=True, timeout=120,
                              **options)

    def opens(self, program: pathlib.Path, **options):
        ran = self.run_command(program, "reference", "--json", **options)
        if EMULATED and ran.returncode == 77:
            self.skipTest(ran.stderr)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return json.loads(ran.stdout)

    def test_are_small(self):
        for file in (one("*.tar.xz"), one("*.whl")):
            self.assertLess(file.stat().st_size, LIMIT, file.name)
        without_plugins = sum(file.stat().st_size for file in self.tree.rglob("*")
                              if file.is_file() and "repository/files" not in str(file))
        self.assertLess(without_plugins, LIMIT)

    def test_need_the_c_library_alone(self):
        for file in elf_files(self.tree) + [self.venv / "bin" / name for name in COMMANDS]:
            with self.subTest(file=file.name):
                found = dynamic(file)
                others = set(found.get("NEEDED", [])) - LIBC
                self.assertLessEqual(others, {"libenginehost.so.0"} if file.name in COMMANDS else set())
                self.assertNotIn("RUNPATH", found, "LD_LIBRARY_PATH goes before it")
        self.assertEqual(dynamic(self.tree / "lib/libenginehost.so.0")["SONAME"], ["libenginehost.so.0"])
        for name in COMMANDS:
            self.assertEqual(dynamic(self.tree / "bin" / name)["RPATH"], ["$ORIGIN/../lib"])
            places = dynamic(self.venv / "bin" / name)["RPATH"][0].split(":")
            self.assertEqual(len(places), 8)
            self.assertEqual(places[-1], "$ORIGIN/../enginehost/lib")

    def test_need_nothing_newer_than_the_floor(self):
        for file in elf_files(self.tree) + [self.venv / "bin" / name for name in COMMANDS]:
            with self.subTest(file=file.name):
                libraries = [] if "libenginehost.so.0" not in dynamic(file).get("NEEDED", []) else [
                    self.tree / "lib/libenginehost.so.0"]
                checked = subprocess.run([sys.executable, ROOT / "tests/engines/check_floor.py", ROOT / "cmake/floor/symbols.txt",
                                          PROCESSOR, file, *libraries], capture_output=True, text=True)
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_export_the_api_and_nothing_else(self):
        said = subprocess.run(["readelf", "--dyn-syms", "-W", self.tree / "lib/libenginehost.so.0"], check=True,
                              capture_output=True, text=True).stdout
        symbols = [line.split() for line in said.splitlines() if re.match(r" +\d+:", line)]
        defined = [symbol[7] for symbol in symbols if symbol[4] != "LOCAL" and symbol[6] != "UND"]  # local: sections, for aarch64
        for name in defined:
            self.assertRegex(name, r"^(enginehost_\w+@@ENGINEHOST_0|engine_command_\w+@@ENGINEHOST_COMMANDS|ENGINEHOST_\w+)$")

    def test_hold_no_links(self):
        with tarfile.open(one("*.tar.xz")) as archive:
            self.assertEqual([entry.name for entry in archive if not entry.isfile() and not entry.isdir()], [])
        with zipfile.ZipFile(one("*.whl")) as archive:
            self.assertEqual([entry.filename for entry in archive.infolist() if (entry.external_attr >> 16) & 0o170000 != 0o100000], [])

    def test_name_what_is_linked_in(self):
        info = next(self.package.parent.glob("enginehost-*.dist-info"))
        for folder, list_of in ((self.tree, "share/doc/enginehost"), (self.package, info / "sboms")):
            pages = folder / "share/doc/enginehost"
            listed = {part["name"] for part in json.loads((folder / list_of / "enginehost.cyclonedx.json").read_text())["components"]}
            self.assertLessEqual({"curl", "libarchive", "openssl", "zlib", "libzstd", "xz-utils", "nghttp2", "libisal", "gcc-12"}, listed)
            self.assertEqual({file.stem for file in (pages / "linked-in").iterdir()}, listed)
        said = self.run_command(self.tree / "bin/engine-info", "--version").stdout
        for part in listed:
            self.assertRegex(said, rf"\b{re.escape(part)}\s+[0-9]")

    def test_hold_what_their_pages_link_to(self):
        for tree in (self.tree, self.package):
            for page in sorted((tree / "share/doc/enginehost").rglob("*.md")):
                for target in re.findall(r"\]\(([^) #:]+)(?:#[^)]*)?\)", page.read_text()):
                    self.assertTrue((page.parent / target).exists(), f"{page.relative_to(tree)} links to {target}")

    def test_hold_every_plugin_that_their_manifests_name(self):
        for tree in (self.tree, self.package):
            repository = tree / "share/enginehost/repository"
            for entry in json.loads((repository / "index.json").read_text())["manifests"]:
                for component in json.loads((repository / entry["path"]).read_text())["components"].values():
                    for source in (source for artifact in component.get("artifacts", []) for source in artifact["sources"]):
                        if "file" in source:
                            self.assertTrue((repository / source["file"]).is_file(), source["file"])

    def test_serve_the_machines_whose_plugins_they_hold(self):
        repository = self.tree / "share/enginehost/repository"
        entry = next(repository.glob("manifests/reference-*.json"))
        for name, component in json.loads(entry.read_text())["components"].items():
            if component["artifacts"]:
                platform = name.replace("reference-plugin-", "")
                with self.subTest(platform=platform):
                    ran = self.run_command(self.tree / "bin/engine-cache", "fetch", "reference", "--platform",
                                           ROOT / f"tests/profiles/{MACHINES[platform]}.json")
                    self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                    self.assertIn(f"cpu-{platform}", ran.stdout)

    def test_work_wherever_they_lie(self):
        moved = self.folder / "moved to a folder with blanks"
        shutil.copytree(self.tree, moved)
        self.opens(moved / "bin/engine-info")
        self.opens(self.venv / "bin/engine-info")
        linked = self.folder / "linked"
        linked.symlink_to(self.tree / "bin/engine-info")
        self.opens(linked)
        if not FOREIGN:
            target = self.folder / "target"
            subprocess.run([self.venv / "bin/pip", "install", "--quiet", "--no-index", "--target", target, one("*.whl")], check=True)
            self.opens(target / "bin/engine-info")

    @OF_THIS_MACHINE
    def test_start_in_odd_environments(self):
        others = self.folder / "others"
        others.mkdir()
        for name in ("libstdc++.so.6", "libgcc_s.so.1", "libcurl.so.4", "libssl.so.3", "libcrypto.so.3", "libarchive.so.13",
                     "libz.so.1", "libzstd.so.1", "libenginehost.so.0"):
            (others / name).write_bytes(b"no library")
        preloaded = self.folder / "preloaded.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", preloaded], input="int preloaded;", text=True, check=True)
        for tree in (self.tree / "bin", self.venv / "bin"):
            for environment in ({"LD_LIBRARY_PATH": str(others)}, {"LD_PRELOAD": str(preloaded)}, {"LC_ALL": "xx_YY.none"},
                                {"HOME": "/nonexistent"}, {"OPENSSL_CONF": "/dev/stdin", "OPENSSL_MODULES": str(others)}):
                with self.subTest(tree=tree.parent.name, **environment):
                    ran = self.run_command(tree / "engine-info", "--version", environment=environment, stdin=subprocess.DEVNULL)
                    self.assertEqual((ran.returncode, ran.stdout.splitlines()[0]), (0, "enginehost 0.1.0"), ran.stderr)
            for before in (("sh", "-c", 'exec "$0" "$@" <&- 2>&-'), ("sh", "-c", 'ulimit -n 16; exec "$0" "$@"')):
                ran = self.run_command(tree / "engine-info", "--version", before=before)
                self.assertEqual(ran.returncode, 0, ran.stderr)

    @OF_THIS_MACHINE
    def test_serve_programs_of_plain_cmake(self):
        for place, prefix in (("tar", self.tree), ("wheel", self.package)):
            with self.subTest(place=place):
                build = self.folder / f"example-of-{place}"
                for command in (["cmake", "-S", ROOT / "examples/cpp", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"],
                                ["cmake", "--build", build]):
                    made = subprocess.run(command, capture_output=True, text=True)
                    self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
                ran = self.run_command(build / "choose_engine", "reference")
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    @OF_THIS_MACHINE
    def test_tell_python_where_the_parts_are(self):
        python = self.venv / "bin/python"
        said = self.run_command(python, "-c", "import enginehost as e; print(e.__version__, e.cmake_dir(), e.library())").stdout.split()
        self.assertEqual(said, ["0.1.0", str(self.package / "lib/cmake/EngineHost"), str(self.package / "lib/libenginehost.so.0")])
        self.assertEqual(self.run_command(python, "-m", "enginehost", "--cmake-dir").stdout.strip(), said[1])
        found = self.run_command(python, "-c", "from importlib.metadata import entry_points as e; print([x.name for x in e()"
                                 ".get('cmake.root', [])] if isinstance(e(), dict) else [x.name for x in e(group='cmake.root')])")
        self.assertEqual(found.stdout.strip(), "['EngineHost']")

    @OF_THIS_MACHINE
    def test_leave_a_program_one_copy_of_the_library(self):
        ran = self.run_command(self.venv / "bin/python", "-c", """
import ctypes, enginehost
ctypes.CDLL(enginehost.library())
print(len({line.split()[-1] for line in open("/proc/self/maps") if "libenginehost" in line}))
""")
        self.assertEqual(ran.stdout.strip(), "1", ran.stderr)

    @OF_THIS_MACHINE
    def test_live_beside_other_copies_of_what_is_linked_in(self):
        """An application with functions of its own that have the names of curl's, OpenSSL's and others', and end it."""
        source = self.folder / "beside.c"
        names = ("curl_global_init curl_easy_init curl_multi_poll SSL_new SHA256_Init EVP_DigestVerify archive_read_new inflate "
                 "ZSTD_decompressStream isal_inflate nghttp2_session_client_new __cxa_throw").split()
        source.write_text("#include <stdlib.h>\n#include <enginehost/enginehost.h>\n" + "".join(
            f"void {name}(void) {{ exit(99); }}\n" for name in names) + """
int main(void) {
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  request.engine = "reference";
  enginehost_engine* engine = NULL;
  return enginehost_open(&request, &engine, NULL) != 0;
}
""")
        program = self.folder / "beside"
        subprocess.run(["cc", "-rdynamic", source, "-o", program, f"-I{self.tree}/include", self.tree / "lib/libenginehost.so.0",
                        f"-Wl,-rpath,{self.tree}/lib"], check=True)
        ran = self.run_command(program)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_are_made_again_with_the_same_bytes(self):
        suffix, root = ("-arm64", ROOT / "out/arm64/root") if FOREIGN else ("", "/")
        if not (ROOT / f"out/portable{suffix}-tree").is_dir():
            self.skipTest("the tree was not built here")
        again = self.folder / "again"
        again.mkdir()
        with tarfile.open(one("*.tar.xz")) as archive:
            packed_at = str(archive.next().mtime)
        shutil.copytree(ROOT / f"out/portable{suffix}-tree", self.folder / "portable-tree")
        subprocess.run([sys.executable, "-B", ROOT / "packaging/pack.py", "--tar", "--wheel", "--tree", self.folder / "portable-tree",
                        "--libraries", ROOT / f"out/portable-libraries{suffix}", "--scripts",
                        ROOT / f"build-portable{suffix}/wheel/bin", "--output", again, "--packages-of", root],
                       check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": packed_at})
        for file in (one("*.tar.xz"), one("*.whl")):
            self.assertEqual((again / file.name).read_bytes(), file.read_bytes(), file.name)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main()
