#!/usr/bin/env python3
"""Another project adds this tree with add_subdirectory() and links to EngineHost::enginehost.

subproject_test.py --source TREE --scratch FOLDER --cmake CMAKE [--whole]

It is configured and its own file is compiled. With --whole or ENGINEHOST_EXHAUSTIVE=1 it is also linked and run, for
which the library is compiled. Exit status 1 with what failed.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

PROJECT = """cmake_minimum_required(VERSION 3.23)
project(app LANGUAGES C CXX)
add_subdirectory("%s" enginehost)
if(TARGET sdk_tests)
  message(FATAL_ERROR "the tests of EngineHost are part of another project")
endif()
add_executable(app app.cpp)
target_link_libraries(app PRIVATE EngineHost::enginehost)
"""
PROGRAM = """#include <enginehost/enginehost.hpp>
#include <iostream>
int main() {
  enginehost::sdk::Request request;
  request.engine = "reference";
  std::cout << enginehost::sdk::Engine::open(request).build() << '\\n';
}
"""


def run(*argv, **options):
    done = subprocess.run([str(part) for part in argv], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode != 0:
        sys.exit("%s ended with %d:\n%s" % (" ".join(map(str, argv)), done.returncode, done.stdout))
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--whole", action="store_true")
    arguments = parser.parse_args()
    whole = arguments.whole or os.environ.get("ENGINEHOST_EXHAUSTIVE") == "1"
    project = arguments.scratch
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir(parents=True)
    (project / "CMakeLists.txt").write_text(PROJECT % arguments.source, encoding="utf-8")
    (project / "app.cpp").write_text(PROGRAM, encoding="utf-8")
    build = project / "build"
    run(arguments.cmake, "-G", "Ninja", "-S", project, "-B", build, "-DCMAKE_BUILD_TYPE=RelWithDebInfo")
    if not whole:
        run("ninja", "-C", build, "CMakeFiles/app.dir/app.cpp.o")
        return
    run(arguments.cmake, "--build", build, "--parallel", "2", "--target", "app", "enginehost-probe",
        "enginehost_repository")
    home = dict(os.environ, HOME=str(project), XDG_CONFIG_HOME=str(project), ENGINEHOST_CACHE=str(project / "cache"))
    said = run(build / "app", env=home)
    if not said.startswith("reference-"):
        sys.exit("the program printed: " + said)


if __name__ == "__main__":
    main()
