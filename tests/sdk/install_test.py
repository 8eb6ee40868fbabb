#!/usr/bin/env python3
"""Installs the build into an empty prefix, moves that prefix, and uses it as an application would.

install_test.py --source TREE --build BUILD --cmake CMAKE   exit status 1 and a line a failure
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = [
    "bin/engine-info", "bin/engine-run", "bin/engine-cache", "libexec/enginehost/enginehost-probe",
    "libexec/enginehost/enginehost-audit.so",
    "include/enginehost/enginehost.h", "include/enginehost/enginehost.hpp", "include/enginehost/engine_plugin.h",
    "share/enginehost/repository/index.json", "share/enginehost/repository/manifests/reference.json"]

failures = []


def fail(text):
    failures.append(text)
    print("FAILED: " + text, file=sys.stderr)


def run(argv, **options):
    """The finished process; a failure is noted with everything it said."""
    result = subprocess.run([str(part) for part in argv], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False, **options)
    if result.returncode != 0:
        fail("%s ended with %d:\n%s%s" % (" ".join(map(str, argv)), result.returncode, result.stdout, result.stderr))
    return result


def library_folder(prefix):
    for found in sorted(prefix.rglob("libenginehost.so")):
        return found.parent
    fail("libenginehost.so is not installed")
    sys.exit(1)


def check_files(prefix):
    for name in EXPECTED:
        if not (prefix / name).is_file():
            fail("%s is not installed" % name)
    plugins = [path for path in (prefix / "share/enginehost/repository").rglob("*")
               if path.is_file() and path.suffix != ".json"]
    if not plugins:
        fail("the installed repository holds no plugin")


def check_exports(library):
    listed = run(["nm", "-D", "--defined-only", library]).stdout
    names = [line.split()[-1] for line in listed.splitlines() if line.strip()]
    strangers = [name for name in names if not name.startswith("enginehost_")]
    if strangers or len(names) < 20:
        fail("libenginehost.so exports %s" % (strangers or names))


def check_header(include, scratch):
    """Both headers alone and beside dlpack.h, in every language version that they promise."""
    dlpack = "#include <dlpack/dlpack.h>\n"
    use = "#include <enginehost/%s>\nint main(void) { enginehost_request r = ENGINEHOST_REQUEST_INIT; " \
          "return r.size == sizeof(r) ? 0 : 1; }\n"
    for header, suffix, compilers, standards in [
            ("enginehost.h", ".c", ("gcc", "clang"), ("c99", "c11", "c17")),
            ("enginehost.h", ".cpp", ("g++", "clang++"), ("c++11", "c++17", "c++20")),
            ("enginehost.hpp", ".cpp", ("g++", "clang++"), ("c++17", "c++20"))]:
        for compiler in compilers:
            if not shutil.which(compiler):
                print("skipped: there is no " + compiler)
                continue
            for standard in standards:
                # dlpack.h itself wants C11 or no pedantry, and C++11.
                for before in ("", dlpack):
                    source = scratch / ("header" + suffix)
                    source.write_text(before + use % header)
                    run([compiler, "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
                         "-fsyntax-only", "-I", include, source])


def check_answer(said):
    if "y [2, 3] = 2 4 0 1 8 2" not in said:
        fail("the C example did not print the answer but: " + said)


def with_find_package(cmake, source, prefix, scratch, program):
    folder = scratch / ("cmake-" + program)
    run([cmake, "-S", source, "-B", folder, "-DCMAKE_PREFIX_PATH=%s" % prefix, "-DCMAKE_BUILD_TYPE=Debug"])
    run([cmake, "--build", folder])
    return folder / program


def with_pkg_config(source, prefix, library, scratch, program, compiler, standard):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(library / "pkgconfig"))
    flags = run(["pkg-config", "--cflags", "--libs", "enginehost"], env=environment).stdout.split()
    if not any(str(prefix.resolve()) in os.path.realpath(flag[2:]) for flag in flags if flag.startswith("-I")):
        fail("pkg-config leads elsewhere than the moved prefix: %s" % flags)
    target = scratch / ("pkg-config-" + program)
    run([compiler, "-std=" + standard, source, "-o", target, *flags, "-Wl,-rpath,%s" % library, "-pthread"])
    return target


def check_examples(arguments, prefix, library, scratch, environment):
    examples = arguments.source / "examples"
    model = examples / "two-layers.model"
    for program in [
            with_find_package(arguments.cmake, examples / "c", prefix, scratch, "run_model"),
            with_pkg_config(examples / "c/run_model.c", prefix, library, scratch, "run_model", "cc", "c99")]:
        check_answer(run([program, model], env=environment).stdout)
        wrong = subprocess.run([program, model, "refrence"], env=environment, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, check=False)
        if wrong.returncode != 3 or "EH-S02" not in wrong.stderr or "reference" not in wrong.stderr:
            fail("an unknown engine gave %d: %s" % (wrong.returncode, wrong.stderr))
    for program in [
            with_find_package(arguments.cmake, examples / "cpp", prefix, scratch, "choose_engine"),
            with_pkg_config(examples / "cpp/choose_engine.cpp", prefix, library, scratch, "choose_engine", "c++",
                            "c++17")]:
        if "self-test passed" not in run([program, "reference"], env=environment).stdout:
            fail("the C++ example did not pass the self-test")
        # Nothing installed and not a byte allowed: consent is what fails.
        fresh = dict(environment, ENGINEHOST_CACHE=str(scratch / "fresh"))
        declined = subprocess.run([program, "reference", "--limit", "0"], env=fresh, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if declined.returncode != 8 or "EH-P03" not in declined.stderr:
            fail("a declined download gave %d: %s" % (declined.returncode, declined.stderr))


def check_commands(prefix, environment):
    said = run([prefix / "bin/engine-info", "reference", "--json"], env=environment).stdout
    document = json.loads(said or "{}")
    outcome = document.get("outcome", {})
    if outcome.get("state") != "opened" or not outcome.get("proven"):
        fail("the installed engine-info did not prove and open: %s" % json.dumps(document.get("warnings")))
    where = [setting["value"] for setting in document.get("config", []) if setting["key"] == "helper"]
    if where and not any(str(prefix) in value for value in where):
        fail("the helper that is used is not the installed one: %s" % where)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="enginehost-install-") as name:
        scratch = pathlib.Path(name)
        run([arguments.cmake, "--install", arguments.build, "--prefix", scratch / "first"])
        # Nothing may remember where it was installed to.
        prefix = scratch / "moved" / "elsewhere"
        prefix.parent.mkdir()
        (scratch / "first").rename(prefix)
        library = library_folder(prefix)
        environment = {key: value for key, value in os.environ.items() if not re.match("ENGINEHOST_|XDG_|LD_", key)}
        environment.update(HOME=str(scratch / "home"), XDG_CONFIG_HOME=str(scratch / "config"),
                           ENGINEHOST_CACHE=str(scratch / "cache"))
        (scratch / "home").mkdir()
        check_files(prefix)
        check_exports(library / "libenginehost.so")
        check_header(prefix / "include", scratch)
        check_examples(arguments, prefix, library, scratch, environment)
        check_commands(prefix, environment)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
