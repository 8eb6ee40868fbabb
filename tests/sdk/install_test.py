#!/usr/bin/env python3
"""Installs the build into an empty prefix, moves that prefix, and uses it as an application would.

install_test.py --source TREE --build BUILD --cmake CMAKE [--wine SCRIPT]

Exit status 1 and a line a failure. With SCRIPT the build is one for Windows by MinGW, and that runs its programs.
"""
import argparse
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

PROGRAMS = ["bin/engine-info", "bin/engine-run", "bin/engine-cache", "bin/engine-manifest",
            "libexec/enginehost/enginehost-probe"]
EXPECTED = [
    "include/enginehost/enginehost.h", "include/enginehost/enginehost.hpp", "include/enginehost/tensor.hpp",
    "include/enginehost/engine_plugin.h", "share/enginehost/repository/index.json",
    "share/doc/enginehost/tests/profiles/linux-ubuntu2204-driver525-rtx3090.json"]

failures = []


class Linux:
    """How the applications of this test are built and run."""
    library = "libenginehost.so"
    ending = ""
    files = ["libexec/enginehost/enginehost_audit.so"]
    compilers = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
    cmake_options = []

    def command(self, program, *arguments):
        return [program, *arguments]

    def path(self, path):
        return str(path)

    def environment(self, library):
        return {}

    def run_path(self, library):
        return ["-Wl,-rpath,%s" % library, "-pthread"]

    def exports(self, library):
        listed = run(["nm", "-D", "--defined-only", library]).stdout
        # A version of symbols is listed as an absolute symbol.
        return [line.split()[-1] for line in listed.splitlines()
                if line.strip() and not re.search(r" A ENGINEHOST_(0|COMMANDS)$", line)]


class Windows(Linux):
    """MinGW's compilers, and Wine, which shows this machine's files as drive Z."""
    library = "enginehost.dll"
    ending = ".exe"
    files = ["lib/libenginehost.dll.a"]
    compilers = {"c": ["x86_64-w64-mingw32-gcc-posix"], "c++": ["x86_64-w64-mingw32-g++-posix"]}

    def __init__(self, arguments):
        self.wine = str(arguments.wine)
        # dlpack.h is the same on every system; /usr/include as a whole would be Linux's.
        self.headers = arguments.build / "debian-headers"
        self.cmake_options = [
            "-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_EXE_LINKER_FLAGS=-static",
            "-DCMAKE_C_COMPILER=" + self.compilers["c"][0], "-DCMAKE_CXX_COMPILER=" + self.compilers["c++"][0],
            *("-DCMAKE_%s_FLAGS=-isystem %s" % (name, self.headers) for name in ("C", "CXX"))]

    def command(self, program, *arguments):
        return [self.wine, program, *arguments]

    def path(self, path):
        return "Z:" + str(path).replace("/", "\\")

    def environment(self, library):
        return {"WINEPATH": self.path(library)}  # where a program looks for DLLs that do not lie beside it

    def run_path(self, library):
        return ["-isystem", self.headers, "-static-libgcc", "-static-libstdc++",
                "-Wl,-Bstatic", "-lstdc++", "-lpthread", "-Wl,-Bdynamic"]

    def exports(self, library):
        names = []
        listed = run(["x86_64-w64-mingw32-objdump", "-p", library]).stdout
        for line in listed.partition("[Ordinal/Name Pointer] Table")[2].splitlines()[1:]:
            if not line.strip():
                break
            names.append(line.split()[-1])
        return names


def fail(text):
    failures.append(text)
    print("FAILED: " + text, file=sys.stderr)


def run(argv, **options):
    """The finished process; a failure is recorded with all its output."""
    result = subprocess.run([str(part) for part in argv], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False, **options)
    if result.returncode != 0:
        fail("%s ended with %d:\n%s%s" % (" ".join(map(str, argv)), result.returncode, result.stdout, result.stderr))
    return result


def library_folder(system, prefix):
    for found in sorted(prefix.rglob(system.library)):
        return found.parent
    fail("%s is not installed" % system.library)
    sys.exit(1)


def check_files(system, prefix, source):
    for name in EXPECTED + system.files + [program + system.ending for program in PROGRAMS]:
        if not (prefix / name).is_file():
            fail("%s is not installed" % name)
    if not list((prefix / "share/enginehost/repository/manifests").glob("reference-*.json")):
        fail("the manifest of the reference engine is not installed")
    # The pages that remedies name exist under those names.
    pages = prefix / "share/doc/enginehost"
    named = set()
    for file in (source / "failures").glob("*.toml"):
        named.update(re.findall(r"(?:docs/[a-z-]+\.md|manifests/schema\b)", file.read_text(encoding="utf-8")))
    if len(named) < 3:
        fail("remedies name only %s" % sorted(named))
    for name in sorted(named):
        if not (pages / name).exists():
            fail("a remedy names %s, which is not in %s" % (name, pages))
    plugins = [path for path in (prefix / "share/enginehost/repository").rglob("*")
               if path.is_file() and path.suffix != ".json"]
    if not plugins:
        fail("the installed repository holds no plugin")


def check_exports(system, library):
    names = system.exports(library)
    strangers = [name for name in names if not name.startswith("enginehost_")]
    if strangers or len(names) < 20:
        fail(system.library + " exports %s" % (strangers or names))


def check_header(system, include, scratch):
    """Both headers alone and beside dlpack.h, in every language version that they promise."""
    dlpack_folder = ["-isystem", system.headers] if isinstance(system, Windows) else []
    dlpack = "#include <dlpack/dlpack.h>\n"
    use = "#include <enginehost/%s>\nint main(void) { enginehost_request r = ENGINEHOST_REQUEST_INIT; " \
          "return r.size == sizeof(r) ? 0 : 1; }\n"
    for header, suffix, language, standards in [
            ("enginehost.h", ".c", "c", ("c99", "c11", "c17")),
            ("enginehost.h", ".cpp", "c++", ("c++11", "c++17", "c++20")),
            ("enginehost.hpp", ".cpp", "c++", ("c++17", "c++20"))]:
        for compiler in system.compilers[language]:
            if not shutil.which(compiler):
                print("skipped: there is no " + compiler)
                continue
            for standard in standards:
                # dlpack.h itself requires C11 or no pedantry, and C++11.
                for before in ("", dlpack):
                    source = scratch / ("header" + suffix)
                    source.write_text(before + use % header)
                    run([compiler, "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
                         "-fsyntax-only", "-I", include, *dlpack_folder, source])


def check_answer(said):
    if "y [2, 3] = 2 4 0 1 8 2" not in said:
        fail("the C example did not print the answer but: " + said)


def with_find_package(system, cmake, source, prefix, scratch, program):
    folder = scratch / ("cmake-" + program)
    run([cmake, "-S", source, "-B", folder, "-DCMAKE_PREFIX_PATH=%s" % prefix, "-DCMAKE_BUILD_TYPE=Debug",
         *system.cmake_options])
    run([cmake, "--build", folder])
    return folder / (program + system.ending)


def with_pkg_config(system, source, prefix, scratch, program, language, standard):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(next(prefix.rglob("pkgconfig"))))
    flags = run(["pkg-config", "--cflags", "--libs", "enginehost"], env=environment).stdout.split()
    if not any(str(prefix.resolve()) in os.path.realpath(flag[2:]) for flag in flags if flag.startswith("-I")):
        fail("pkg-config leads elsewhere than the moved prefix: %s" % flags)
    target = scratch / ("pkg-config-" + program + system.ending)
    run([system.compilers[language][0], "-std=" + standard, source, "-o", target, *flags,
         *system.run_path(library_folder(system, prefix))])
    return target


def check_examples(system, arguments, prefix, scratch, environment):
    examples = arguments.source / "examples"
    model = system.path(examples / "two-layers.model")
    for program in [
            with_find_package(system, arguments.cmake, examples / "c", prefix, scratch, "run_model"),
            with_pkg_config(system, examples / "c/run_model.c", prefix, scratch, "run_model", "c", "c99")]:
        check_answer(run(system.command(program, model), env=environment).stdout)
        wrong = subprocess.run(system.command(program, model, "refrence"), env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if wrong.returncode != 3 or "EH-S02" not in wrong.stderr or "reference" not in wrong.stderr:
            fail("an unknown engine gave %d: %s" % (wrong.returncode, wrong.stderr))
    for program in [
            with_find_package(system, arguments.cmake, examples / "cpp", prefix, scratch, "choose_engine"),
            with_pkg_config(system, examples / "cpp/choose_engine.cpp", prefix, scratch, "choose_engine", "c++",
                            "c++17")]:
        if "self-test passed" not in run(system.command(program, "reference"), env=environment).stdout:
            fail("the C++ example did not pass the self-test")
        # Nothing is installed and no byte is allowed, so consent fails.
        fresh = dict(environment, ENGINEHOST_CACHE=system.path(scratch / "fresh"))
        declined = subprocess.run(system.command(program, "reference", "--limit", "0"), env=fresh, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if declined.returncode != 8 or "EH-P03" not in declined.stderr:
            fail("a declined download gave %d: %s" % (declined.returncode, declined.stderr))


def block_of(page, language):
    """The only block of that language on the page."""
    found = re.findall(r"```%s\n(.*?)```" % language, page.read_text(encoding="utf-8"), re.DOTALL)
    if len(found) != 1:
        fail("%s has %d blocks of %s and should have one" % (page, len(found), language))
    return found[0] if found else ""


def check_readme(system, arguments, prefix, scratch, environment):
    """README's program and its CMakeLists.txt, word for word."""
    source = scratch / "readme"
    source.mkdir()
    readme = prefix / "share/doc/enginehost/README.md"
    (source / "CMakeLists.txt").write_text(block_of(readme, "cmake"), encoding="utf-8")
    (source / "app.cpp").write_text(block_of(readme, "cpp"), encoding="utf-8")
    program = with_find_package(system, arguments.cmake, source, prefix, scratch, "app")
    model = prefix / "share/doc/enginehost/examples/two-layers.model"
    said = run(system.command(program, "reference", system.path(model)), env=environment).stdout
    if not re.match(r"2 4 0 1 8 2 *\r?\ncpu:0\r?\ngpu was requested; the engine offers cpu:0", said):
        fail("README's program printed: " + said)


def check_plugin_sample(arguments, prefix, scratch):
    """The sample for authors of engines builds alone, and passes."""
    folder = scratch / "cmake-plugin"
    run([arguments.cmake, "-S", prefix / "share/doc/enginehost/examples/plugin", "-B", folder,
         "-DCMAKE_PREFIX_PATH=%s" % prefix])
    run([arguments.cmake, "--build", folder])
    said = run([prefix / "bin/engine-plugin-check", folder / "libengine_sample.so"]).stdout
    if "All checks passed." not in said:
        fail("the plugin sample does not pass: " + said)


def check_components(arguments, prefix, scratch):
    """A component, which EngineHost does not have, is refused with the reason."""
    source = scratch / "components"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(app LANGUAGES CXX)\n"
        "find_package(EngineHost REQUIRED COMPONENTS commands)\n", encoding="utf-8")
    done = subprocess.run([arguments.cmake, "-S", str(source), "-B", str(source / "build"),
                           "-DCMAKE_PREFIX_PATH=%s" % prefix], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode == 0 or "it has no components, and commands is asked for" not in " ".join(done.stdout.split()):
        fail("find_package with a component gave %d: %s" % (done.returncode, done.stdout))


def without(prefix, piece, scratch):
    """A copy of the prefix from which a piece was taken."""
    copy = scratch / ("without-" + piece.replace("/", "-"))
    shutil.copytree(prefix, copy, symlinks=True)
    taken = copy / piece
    shutil.rmtree(taken) if taken.is_dir() else taken.unlink()
    return copy


def check_missing_pieces(system, prefix, scratch, environment):
    """What was not shipped with the library is named, with the folder where it was looked for."""
    def opened_by(copy, cache):
        own = dict(environment, ENGINEHOST_CACHE=system.path(scratch / cache))
        return subprocess.run([str(part) for part in system.command(copy / ("bin/engine-info" + system.ending), "reference")],
                              env=own, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    copy = without(prefix, "share/enginehost", scratch)
    said = opened_by(copy, "cache-1")
    if said.returncode != 3 or "EngineHost's own, share/enginehost/repository, is not" not in said.stderr \
            or str(copy / "share/enginehost/repository") not in said.stderr.replace("\n             ", " "):
        fail("without share/enginehost: %d %s" % (said.returncode, said.stderr))
    (copy / "share/enginehost/repository").mkdir(parents=True)
    said = opened_by(copy, "cache-1")
    if said.returncode != 3 or str(copy / "share/enginehost/repository") not in said.stderr:
        fail("with an empty repository folder: %d %s" % (said.returncode, said.stderr))
    (copy / "share/enginehost/repository/index.json").write_text(
        '{"format": 1, "name": "none", "manifests": []}', encoding="utf-8")
    said = opened_by(copy, "cache-1")
    if said.returncode != 3 or "no engine is listed in " + str(copy / "share/enginehost/repository") not in said.stderr:
        fail("with a repository that lists nothing: %d %s" % (said.returncode, said.stderr))
    copy = without(prefix, "libexec/enginehost/enginehost-probe" + system.ending, scratch)
    probe = copy / ("libexec/enginehost/enginehost-probe" + system.ending)
    said = opened_by(copy, "cache-2")
    if said.returncode != 0 or "EH-P21" not in said.stderr or "enginehost-probe was not found" not in said.stderr:
        fail("without the probe: %d %s" % (said.returncode, said.stderr))
    if system.command("x") == ["x"]:  # Wine shows no modes
        probe.write_text("", encoding="utf-8")
        probe.chmod(0o644)
        said = opened_by(copy, "cache-3")
        if said.returncode != 0 or str(probe) + " is not executable" not in said.stderr:
            fail("with a probe that is not executable: %d %s" % (said.returncode, said.stderr))


def check_commands(system, prefix, environment):
    program = prefix / ("bin/engine-info" + system.ending)
    said = run(system.command(program, "reference", "--json"), env=environment).stdout
    document = json.loads(said or "{}")
    outcome = document.get("outcome", {})
    if outcome.get("state") != "opened" or not outcome.get("proven"):
        fail("the installed engine-info did not prove and open: %s" % json.dumps(document.get("warnings")))
    reported = run(system.command(program, "--code", "EH-M40"), env=environment).stdout
    if "docs/ and manifests/ are in %s" % system.path(prefix / "share/doc/enginehost") not in reported:
        fail("engine-info --code does not say where the pages are that it names: %s" % reported)
    where = [setting["value"] for setting in document.get("config", []) if setting["key"] == "helper"]
    if where and not any(system.path(prefix) in value for value in where):
        fail("the probe program in use is not the installed one: %s" % where)


def builds_of(program, engine, environment, *more):
    """What a plan says of each build of an engine: id, verdict, and the code of its refusal."""
    said = subprocess.run([program, engine, "--plan", "--json", *more], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    candidates = json.loads(said.stdout or "{}").get("candidates", [])
    if not candidates:
        fail("%s plans no build of %s: %s" % (program, engine, said.stderr))
    return [(one["build"], one["verdict"], (one.get("diagnosis") or {}).get("code")) for one in candidates]


def publish(prefix, scratch, environment):
    """The installed repository, signed and published as docs/publishing.md does it. Returns folder and public key."""
    source, site = scratch / "source", scratch / "site"
    manifest = str(prefix / "bin/engine-manifest")
    run([manifest, "init", source, "--name", "published"], env=environment)
    repository = prefix / "share/enginehost/repository"
    for file in (repository / "manifests").glob("*.json"):
        shutil.copy(file, source / "engines")
    shutil.copytree(repository / "files", source / "files", dirs_exist_ok=True)
    run(["minisign", "-G", "-W", "-p", scratch / "published.pub", "-s", scratch / "published.key"])
    run([manifest, "sign", source, "--key", scratch / "published.key"], env=environment)
    run([manifest, "publish", source, site], env=environment)
    return site, scratch / "published.pub"


def check_same_builds(arguments, prefix, scratch, environment):
    """The build tree, the installed prefix and a published repository offer the same builds."""
    if not shutil.which("minisign"):
        print("skipped: there is no minisign; no repository is published")
        return
    site, key = publish(prefix, scratch, environment)
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d" % server.server_port
        # A machine that knows nothing but the published repository and its key.
        stranger = dict(environment, XDG_CONFIG_HOME=str(scratch / "stranger"), ENGINEHOST_CACHE=str(scratch / "stranger-cache"))
        (scratch / "stranger/enginehost").mkdir(parents=True)
        (scratch / "stranger/enginehost/config.json").write_text(json.dumps(
            {"repositories_default": False, "repositories": [{"location": url}]}), encoding="utf-8")
        run([prefix / "bin/engine-cache", "trust", "add", key], env=stranger)
        manifests = sorted((prefix / "share/enginehost/repository/manifests").glob("*.json"))
        for engine in (json.loads(file.read_bytes())["engine"] for file in manifests):
            installed = builds_of(prefix / "bin/engine-info", engine, environment)
            for where, found in [
                    ("the build tree", builds_of(arguments.build / "bin/engine-info", engine, environment)),
                    ("the published repository", builds_of(prefix / "bin/engine-info", engine, stranger))]:
                if found != installed:
                    fail("%s offers other builds of %s than the installed prefix:\n%s\n%s" % (
                        where, engine, [one for one in found if one not in installed],
                        [one for one in installed if one not in found]))
        server.shutdown()
    if len(manifests) < 4:
        fail("only the builds of %d engines were compared" % len(manifests))


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_links(pages):
    """Every link of every installed page leads to an installed file."""
    count = 0
    for page in sorted(pages.rglob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target = link.partition("#")[0]
            if not target or re.match("[a-z]+:", target):
                continue
            count += 1
            if not (page.parent / target).exists():
                fail("%s leads to %s, which is not installed" % (page.relative_to(pages), target))
    if count < 20:
        fail("only %d links were found in %s" % (count, pages))


def check_authors_page(prefix):
    """The first commands of the page for engine authors, in the installed copy and with the header's other folder."""
    pages = prefix / "share/doc/enginehost"
    page = (pages / "docs/engine-authors.md").read_text(encoding="utf-8")
    shown = re.search(r"```console\n\$ (cc .*?)\n\$ (engine-plugin-check .*?)\n", page, re.DOTALL)
    if not shown:
        fail("docs/engine-authors.md does not begin with a compiler's command and a check")
        return
    path = dict(os.environ, PATH="%s:%s" % (prefix / "bin", os.environ["PATH"]))
    for include in ("plugin-api/include", str(prefix / "include")):
        command = shown[1].replace("-I plugin-api/include", "-I '%s'" % include)
        said = run(["sh", "-c", "%s && %s" % (command, shown[2])], cwd=pages, env=path).stdout
        if "All checks passed." not in said:
            fail("what docs/engine-authors.md shows does not pass: " + said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--wine", type=pathlib.Path)
    arguments = parser.parse_args()
    system = Windows(arguments) if arguments.wine else Linux()
    with tempfile.TemporaryDirectory(prefix="enginehost-install-") as name:
        scratch = pathlib.Path(name)
        run([arguments.cmake, "--install", arguments.build, "--prefix", scratch / "first"])
        # No file may contain the folder of the installation.
        prefix = scratch / "moved" / "elsewhere"
        prefix.parent.mkdir()
        (scratch / "first").rename(prefix)
        library = library_folder(system, prefix)
        environment = {key: value for key, value in os.environ.items() if not re.match("ENGINEHOST_|XDG_|LD_", key)}
        environment.update(HOME=str(scratch / "home"), XDG_CONFIG_HOME=str(scratch / "config"),
                           ENGINEHOST_CACHE=system.path(scratch / "cache"), **system.environment(library))
        (scratch / "home").mkdir()
        check_files(system, prefix, arguments.source)
        check_links(prefix / "share/doc/enginehost")
        if not arguments.wine:
            check_authors_page(prefix)
            check_plugin_sample(arguments, prefix, scratch)
            check_components(arguments, prefix, scratch)
            check_missing_pieces(system, prefix, scratch, environment)
            check_same_builds(arguments, prefix, scratch, environment)
        check_exports(system, library / system.library)
        check_header(system, prefix / "include", scratch)
        check_examples(system, arguments, prefix, scratch, environment)
        check_readme(system, arguments, prefix, scratch, environment)
        check_commands(system, prefix, environment)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
