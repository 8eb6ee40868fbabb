#!/usr/bin/env python3
"""Tests pack_repository.py with templates and plugins made for it."""
import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "manifests" / "pack_repository.py"
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("pack_repository", SCRIPT)
pack_repository = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pack_repository)


def template():
    def build(system, **more):
        return {"id": f"toy-@VERSION@-cpu-{system}", "version": "@VERSION@", "flavor": "cpu", "os": system,
                "arch": "x86_64", "requires": {"glibc": ">=2.5", "cpu": ["avx2"]},
                "plugin": {"component": f"toy-plugin-{system}", "path": "libengine_toy.so"}, "components": [], **more}
    return {"format": 1, "engine": "toy", "serial": 0, "licenses": {"enginehost": {"id": "Apache-2.0"}},
            "components": {f"toy-plugin-{system}": {"plugin_of": "toy", "os": system, "arch": "x86_64"}
                           for system in ("linux", "windows")},
            "builds": [build("linux", not_built="never seen"), build("windows")]}


class PackRepository(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "templates").mkdir()
        self.write_template(template())
        self.plugin = self.compile("#include <string.h>\nint f(char* a, char* b) { return strcmp(a, b); }")

    def tearDown(self):
        self.folder.cleanup()

    def write_template(self, document):
        (self.root / "templates" / "toy.json").write_text(json.dumps(document))

    def compile(self, source):
        file = self.root / "libengine_toy.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", file], input=source, text=True, check=True)
        return file

    def pack(self, output="repository", plugins=True, epoch=None, expect=0, more=()):
        environment = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
        if epoch is not None:
            environment["SOURCE_DATE_EPOCH"] = str(epoch)
        command = [sys.executable, SCRIPT, "--templates", self.root / "templates", "--output", self.root / output,
                   "--name", "test", "--version", "1.2.3", "--os", "linux", "--arch", "x86_64"]
        if plugins:
            command += ["--plugin", f"toy={self.plugin}"]
        command += more
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def test_vendor_facts_are_named_by_the_index_and_replaced(self):
        facts, index = self.root / "facts.json", self.root / "repository" / "index.json"
        paths = []
        for text in ("{}", "[]", "[]"):
            facts.write_text(text)
            self.pack(more=["--vendor-facts", facts])
            named = json.loads(index.read_text())["vendor_facts"]
            self.assertEqual((self.root / "repository" / named["path"]).read_text(), text)
            self.assertEqual((named["sha256"], named["size"]), (hashlib.sha256(text.encode()).hexdigest(), 2))
            paths.append(named["path"])
        self.assertEqual(len(set(paths)), 2)
        self.assertEqual(len(list((self.root / "repository" / "vendor-facts").iterdir())), 1)
        self.pack()
        self.assertNotIn("vendor_facts", json.loads(index.read_text()))

    def libtorch_plugin(self, name, abi):
        """A plugin that needs a symbol with a std::string from a library called libc10.so."""
        folder = self.root / name
        folder.mkdir()
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", folder / "libc10.so", "-Wl,-soname,libc10.so"],
                       input="int c10_is_here;", text=True, check=True)
        file = folder / "libengine_toy.so"
        subprocess.run(["g++", "-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-x", "c++", "-", "-x", "none",
                        "-Wl,--no-as-needed", folder / "libc10.so", "-o", file], text=True, check=True,
                       input="#include <string>\nnamespace c10 { void warn(const std::string&); }\n"
                             "void use() { c10::warn(\"\"); }")
        return file

    def pack_for_libtorch(self, *plugins, expect=0):
        document = template()
        document["components"]["toy-plugin-linux"] = {"plugin_of": "toy-2.0-wheel", "os": "linux", "arch": "x86_64",
                                                      "cxx11_abi": "0"}
        document["builds"][0]["capabilities"] = ["format.toy"]
        self.write_template(document)
        command = [sys.executable, SCRIPT, "--templates", self.root / "templates", "--output", self.root / "repository",
                   "--name", "test", "--version", "1.2.3", "--os", "linux", "--arch", "x86_64"]
        for name, file in plugins:
            command += ["--plugin", f"{name}={file}"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def read(self, path, output="repository"):
        return json.loads((self.root / output / path).read_bytes())

    def manifest(self):
        [entry] = self.read("index.json")["manifests"]
        return self.read(entry["path"])

    def snapshot(self, output="repository"):
        base = self.root / output
        return {str(file.relative_to(base)): (file.read_bytes(), file.stat().st_mtime_ns)
                for file in base.rglob("*") if file.is_file()}

    def test_a_compiled_plugin_becomes_the_artifact_of_its_component(self):
        self.pack()
        manifest = self.manifest()
        component = manifest["components"]["toy-plugin-linux"]
        artifact = component["artifacts"][0]
        archive = self.root / "repository" / artifact["sources"][0]["file"]
        self.assertEqual(hashlib.sha256(archive.read_bytes()).hexdigest(), artifact["sha256"])
        self.assertEqual(archive.stat().st_size, artifact["size"])
        with tarfile.open(archive) as tar:
            self.assertEqual(tar.getnames(), ["libengine_toy.so"])
            self.assertEqual(tar.extractfile("libengine_toy.so").read(), self.plugin.read_bytes())
        build = manifest["builds"][0]
        self.assertEqual((build["id"], build["version"], component["version"]), ("toy-1.2.3-cpu-linux", "1.2.3", "1.2.3"))
        self.assertNotIn("not_built", build)
        self.assertNotIn("plugin_of", component)

    def test_the_index_names_every_manifest_by_its_digest(self):
        self.pack()
        index = self.read("index.json")
        self.assertEqual((index["format"], index["name"]), (1, "test"))
        for entry in index["manifests"]:
            content = (self.root / "repository" / entry["path"]).read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            self.assertEqual((entry["sha256"], entry["size"]), (digest, len(content)))
            self.assertEqual(entry["path"], f"manifests/toy-{digest}.json", "the path names the engine")

    def test_files_of_other_platforms_say_which_they_are_for(self):
        def pe(machine):
            return b"MZ" + bytes(0x3A) + (0x40).to_bytes(4, "little") + b"PE\0\0" + machine.to_bytes(2, "little")

        for content, platform in ((self.plugin.read_bytes(), ("linux", os.uname().machine)),
                                  (b"\x7fELF" + bytes(14) + b"\xb7\0", ("linux", "aarch64")),
                                  (b"\x7fELF" + bytes(14) + b"\x28\0", None), (pe(0x8664), ("windows", "x86_64")),
                                  (pe(0xAA64), ("windows", "arm64")), (pe(0x14C), None), (b"MZ", None), (b"", None),
                                  (b"\xcf\xfa\xed\xfe\x0c\0\0\x01", ("macos", "arm64")),
                                  (b"\xcf\xfa\xed\xfe\x07\0\0\x01", ("macos", "x86_64"))):
            self.assertEqual(pack_repository.platform_of(content), platform, content[:64])

    def test_plugins_of_another_build_are_packed_for_their_platform(self):
        document = template()
        document["builds"][1]["plugin"]["path"] = "engine_toy.dll"
        self.write_template(document)
        other = self.root / "engine_toy.dll"
        other.write_bytes(b"MZ" + bytes(0x3A) + (0x40).to_bytes(4, "little") + b"PE\0\0\x64\x86")
        listed = self.root / "plugins.txt"
        listed.write_text(f"--plugin\ntoy={other}\n")
        self.pack(more=[f"@{listed}"])
        manifest = self.manifest()
        self.assertFalse([build for build in manifest["builds"] if "not_built" in build])
        for system, file in (("linux", self.plugin), ("windows", other)):
            [artifact] = manifest["components"][f"toy-plugin-{system}"]["artifacts"]
            place = artifact["sources"][0]["file"]
            self.assertIn(f"-{system}-x86_64-", place)
            with tarfile.open(self.root / "repository" / place) as tar:
                self.assertEqual(tar.extractfile(file.name).read(), file.read_bytes())
        self.pack(plugins=False, more=[f"@{listed}"])
        self.assertEqual(["not_built" in build for build in self.manifest()["builds"]], [True, False])

    def test_a_plugin_that_was_not_compiled_leaves_its_builds_listed_with_what_would_compile_it(self):
        self.pack(plugins=False)
        manifest = self.manifest()
        self.assertEqual(manifest["builds"][0]["not_built"],
                         "never seen; scripts/setup.sh --all makes it in EngineHost's source folder")
        self.assertEqual(manifest["builds"][1]["not_built"],
                         "its plugin (target engine_toy) was not compiled for windows x86_64")
        self.assertEqual(manifest["components"]["toy-plugin-linux"]["artifacts"], [])

    def test_a_reason_of_the_template_that_names_a_remedy_stays(self):
        document = template()
        document["builds"][0]["not_built"] = "never seen; that takes a toy box"
        self.write_template(document)
        self.pack(plugins=False)
        self.assertEqual(self.manifest()["builds"][0]["not_built"], "never seen; that takes a toy box")
        del document["builds"][0]["not_built"]
        self.write_template(document)
        self.pack(plugins=False)
        self.assertEqual(self.manifest()["builds"][0]["not_built"],
                         "its plugin was not compiled; scripts/setup.sh --all makes it in EngineHost's source folder")

    def test_what_the_plugin_requires_raises_the_requirements_of_its_builds(self):
        self.pack()
        manifest = self.manifest()
        said = subprocess.run(["readelf", "-VW", self.plugin], capture_output=True, text=True, check=True).stdout
        newest = max((word[6:] for word in said.split() if word.startswith("GLIBC_2")), key=pack_repository.version_key)
        expected = max(newest, "2.5", key=pack_repository.version_key)
        self.assertEqual(manifest["builds"][0]["requires"], {"glibc": f">={expected}", "cpu": ["avx2"]})
        self.assertEqual(manifest["builds"][1]["requires"]["glibc"], ">=2.5")

    def stand_in_template(self):
        document = template()
        name = "libcudart.so.13"
        document["components"]["stand-in"] = {"stands_in_for": [name], "os": "linux", "arch": "x86_64"}
        document["builds"][0]["components"] = ["stand-in"]
        self.write_template(document)
        file = self.root / name
        file.write_bytes(b"made by a test")
        return file

    def test_a_stand_in_becomes_a_component_in_a_folder_of_its_own(self):
        file = self.stand_in_template()
        self.pack(more=["--stand-in", file])
        manifest = self.manifest()
        component = manifest["components"]["stand-in"]
        self.assertEqual((component["stands_in_for"], component["license"], component["version"]),
                         (["libcudart.so.13"], "enginehost", "1.2.3"))
        self.assertFalse({"os", "arch"} & set(component))
        artifact = component["artifacts"][0]
        self.assertEqual([one["path"] for one in artifact["files"]], ["stand-ins/libcudart.so.13"])
        with tarfile.open(self.root / "repository" / artifact["sources"][0]["file"]) as tar:
            self.assertEqual(tar.getnames(), ["stand-ins/libcudart.so.13"])
            self.assertEqual(tar.extractfile("stand-ins/libcudart.so.13").read(), b"made by a test")
        self.assertNotIn("not_built", manifest["builds"][0])
        self.assertIn("not_built", manifest["builds"][1], "for its plugin")

    def test_a_stand_in_that_was_not_compiled_is_why_its_build_is_not_there(self):
        self.stand_in_template()
        self.pack()
        manifest = self.manifest()
        self.assertEqual(manifest["components"]["stand-in"]["artifacts"], [])
        self.assertIn("libcudart.so.13", manifest["builds"][0]["not_built"])

    def test_requirements_are_compared_as_versions(self):
        requires = {"glibc": ">=2.9"}
        pack_repository.raise_requirement(requires, "glibc", "2.17")
        self.assertEqual(requires["glibc"], ">=2.17")
        pack_repository.raise_requirement(requires, "glibc", "2.5")
        self.assertEqual(requires["glibc"], ">=2.17")
        requires = {"glibc": ">=2.17,<3"}
        pack_repository.raise_requirement(requires, "glibc", "2.30")
        self.assertEqual(requires["glibc"], ">=2.17,<3,>=2.30")

    def test_plugins_of_one_release_are_distinguished_by_their_abi(self):
        old, new, other = (self.libtorch_plugin(*one) for one in (("old", 0), ("new", 1), ("other", 1)))
        self.pack_for_libtorch(("toy-2.0-wheel", new), ("toy-2.0-wheel", old), ("toy-2.3-system", other))
        manifest = self.manifest()
        files = {}
        for identifier, component in manifest["components"].items():
            if component["artifacts"]:
                archive = self.root / "repository" / component["artifacts"][0]["sources"][0]["file"]
                with tarfile.open(archive) as tar:
                    files[identifier] = tar.extractfile("libengine_toy.so").read()
        names = {"toy-plugin-linux": old, "toy-plugin-2.0-wheel-abi1-linux-x86_64": new,
                 "toy-plugin-2.3-system-abi1-linux-x86_64": other}
        self.assertEqual(files, {name: file.read_bytes() for name, file in names.items()})
        for name, abi in zip(names, "011"):
            self.assertEqual(manifest["components"][name]["adapter"], {"needs": ["libc10.so"], "cxx11_abi": abi})
            self.assertNotIn("cxx11_abi", manifest["components"][name])
        builds = {build["id"]: build for build in manifest["builds"]}
        self.assertNotIn("not_built", builds["toy-1.2.3-cpu-linux"])
        more = builds["toy-2.3-cpu-linux-x86_64-system-abi1"]
        self.assertEqual((more["version"], more["plugin"]["component"], more["capabilities"], more["components"]),
                         ("2.3", "toy-plugin-2.3-system-abi1-linux-x86_64", ["format.toy"], []))
        self.assertEqual(more["requires"]["libraries"], ["libc10.so"])
        self.assertIn("toy-2.0-cpu-linux-x86_64-wheel-abi1", builds)

    def test_a_plugin_for_the_other_abi_is_not_what_the_published_builds_wait_for(self):
        self.pack_for_libtorch(("toy-2.0-wheel", self.libtorch_plugin("new", 1)))
        builds = {build["id"]: build for build in self.manifest()["builds"]}
        self.assertIn("not_built", builds["toy-1.2.3-cpu-linux"])
        self.assertNotIn("not_built", builds["toy-2.0-cpu-linux-x86_64-wheel-abi1"])

    def test_two_plugins_for_one_place_are_refused_by_name(self):
        first, second = self.libtorch_plugin("first", 0), self.libtorch_plugin("second", 0)
        said = self.pack_for_libtorch(("toy-2.0-wheel", first), ("toy-2.0-wheel", second), expect=1)
        self.assertIn(str(first), said)
        self.assertIn(str(second), said)

    def test_the_versions_read_are_those_readelf_prints(self):
        for file in pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libstdc++.so.6*"):
            said = subprocess.run(["readelf", "-VW", file], capture_output=True, text=True, check=True).stdout
            needs = said[said.index("Version needs section"):]
            newest = max((word[6:] for word in needs.split() if word.startswith("GLIBC_2")),
                         key=pack_repository.version_key)
            self.assertEqual(pack_repository.symbol_versions(file.read_bytes())["GLIBC"], newest)

    def test_the_same_inputs_give_the_same_bytes(self):
        self.pack("one", epoch=1000000000)
        os.utime(self.plugin, (1, 1))
        self.pack("two", epoch=1000000000)
        contents = [{path: content for path, (content, _) in self.snapshot(output).items()} for output in ("one", "two")]
        self.assertEqual(contents[0], contents[1])

    def test_nothing_is_touched_when_nothing_changed(self):
        self.pack()
        before = self.snapshot()
        self.pack()
        self.assertEqual(self.snapshot(), before)

    def test_a_change_raises_the_serial_and_takes_away_what_nobody_names(self):
        self.pack(epoch=2000000000)
        before = self.snapshot()
        self.compile("int g(void) { return 2; }")
        self.pack(epoch=1000000000)  # a clock that went backwards
        after = self.snapshot()
        self.assertEqual(self.read("index.json")["serial"], 2000000001)
        for folder in ("files/", "manifests/"):
            self.assertEqual(len([path for path in after if path.startswith(folder)]), 1)
        self.assertNotEqual(set(before), set(after))
        self.assertFalse([path for path in after if ".new-" in path])

    def test_a_template_that_cannot_be_used_leaves_the_repository_as_it_was(self):
        self.pack()
        before = self.snapshot()
        for bad in ({}, {**template(), "builds": [{}]}):
            self.write_template(bad)
            self.assertIn("toy.json", self.pack(expect=1))
            self.assertEqual(self.snapshot(), before)
        wrong = template()
        wrong["builds"][0]["plugin"]["path"] = "libengine_other.so"
        self.write_template(wrong)
        self.assertIn("libengine_other.so", self.pack(expect=1))
        self.assertEqual(self.snapshot(), before)

    def test_headers_of_an_archive_are_added(self):
        document, digest = template(), "ab" * 32
        artifact = {"sha256": digest, "size": 9, "archive": "zip", "select": ["lib/*"], "sources": []}
        document["components"]["toy-files"] = {"artifacts": [artifact, {**artifact, "sha256": "cd" * 32}]}
        self.write_template(document)
        entry = {"select": ["include/**"], "tree": "ef" * 32, "unpacked": 5, "ranges": [[1, 3]]}
        (self.root / "headers.json").write_text(json.dumps({digest: entry}))
        self.pack(more=["--headers", self.root / "headers.json"])
        with_headers, without = self.manifest()["components"]["toy-files"]["artifacts"]
        self.assertEqual(with_headers["headers"], {**entry, "ranges": [{"begin": 1, "end": 3}]})
        self.assertNotIn("headers", without)

    def test_the_tables_of_headers_agree(self):
        tree = SCRIPT.parent.parent
        published = json.loads((tree / "manifests/headers.json").read_text())
        compiled_with = json.loads((tree / "engines/pytorch/headers.json").read_text())
        both = published.keys() & compiled_with.keys()
        self.assertGreater(len(both), 3)
        self.assertEqual({one: published[one]["tree"] for one in both}, {one: compiled_with[one] for one in both})


if __name__ == "__main__":
    unittest.main()
