#!/usr/bin/env python3
"""Makes libraries to link with, from symbols.txt: they have the symbols and versions of RHEL 8's C and C++ libraries, and no
code. A linker takes the versions that it finds in them, and reports a symbol that RHEL 8 lacks.

usage: make_stubs.py TABLE CPU FOLDER AR COMPILER

FOLDER gets libc.so, libm.so, libstdc++.so, ...: for -L in front of the system's folders. It also gets libfilesystem.a, the part
of the compiler's libstdc++.a that GCC 8's libstdc++.so lacks as a whole.
"""
import pathlib
import subprocess
import sys
import tempfile


def version_key(version: str) -> list:
    return [int(part) for part in version.partition("_")[2].split(".")]


def symbols_of(table: str, cpu: str) -> dict:
    """library -> version -> {name: [size, "tls"]}; a function has no size."""
    libraries = {}
    for block in table.split("\n\n")[1:]:
        head, *lines = block.splitlines()
        library, version, *cpus = head.split()
        if cpu in cpus:
            of_version = libraries.setdefault(library, {}).setdefault(version, {})
            of_version.update((line.split()[0], line.split()[1:]) for line in lines)
    return libraries


def make_stub(library: str, versions: dict, output: pathlib.Path, compiler: str) -> None:
    newest = {}  # an older version is only for programs that were linked earlier
    for version in sorted(versions, key=version_key):
        newest.update({name: (version, kind) for name, kind in versions[version].items()})
    code, nodes = [], {}
    for name, (version, kind) in newest.items():
        nodes.setdefault(version, []).append(name)
        size, kind = kind[0] if kind else 1, {0: "function", 1: "object", 2: "tls_object"}[len(kind)]
        section = {"function": ".text", "object": ".bss", "tls_object": '.section .tbss, "awT", %nobits'}[kind]
        code += [section, ".balign 32", f".globl {name}", f".type {name}, %{kind}", f".size {name}, {size}", f"{name}: .skip {size}"]
    with tempfile.TemporaryDirectory() as scratch:
        source, script = pathlib.Path(scratch, "stub.s"), pathlib.Path(scratch, "stub.map")
        source.write_text("\n".join(code) + "\n")
        script.write_text("".join(f"{version} {{ {'; '.join(names)}; }};\n" for version, names in nodes.items()))
        subprocess.run([compiler, "-shared", "-nostdlib", f"-Wl,-soname,{library}", f"-Wl,--version-script={script}",
                        "-o", output, source], check=True)


def said_by(*command) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_filesystem(output: pathlib.Path, ar: str, compiler: str) -> None:
    archive = said_by(compiler, "-print-file-name=libstdc++.a")
    members = [name for name in said_by(ar, "t", archive).split() if name.startswith(("fs_", "cow-fs_"))]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([ar, "x", pathlib.Path(archive).resolve(), *members], check=True, cwd=scratch)
        output.unlink(missing_ok=True)
        subprocess.run([ar, "rcsD", output.resolve(), *members], check=True, cwd=scratch)


def main() -> int:
    if len(sys.argv) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    table, cpu, folder, ar, compiler = sys.argv[1:]
    libraries = symbols_of(pathlib.Path(table).read_text(), cpu)
    if not libraries:
        print(f"{table} has no symbols for {cpu}", file=sys.stderr)
        return 1
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Functions of these moved into libc.so.6 later, so nobody names them when linking.
    with_libc = [name for name in libraries if name.startswith(("ld-", "libpthread", "libdl", "librt"))]
    for library, versions in libraries.items():
        in_script = library in [*with_libc, "libc.so.6", "libgcc_s.so.1"]
        name = library if in_script else library.partition(".so")[0] + ".so"
        make_stub(library, versions, folder / name, compiler)
    make_filesystem(folder / "libfilesystem.a", ar, compiler)
    whole = " ".join(str(folder.resolve() / name) for name in with_libc)
    static = said_by(compiler, "-print-file-name=libc_nonshared.a")  # atexit()
    (folder / "libc.so").write_text(f"GROUP ( {folder.resolve() / 'libc.so.6'} {static} AS_NEEDED ( {whole} ) )\n")
    # As the compiler's own: libgcc.a has the rest, such as atomic operations for arm64.
    (folder / "libgcc_s.so").write_text(f"GROUP ( {folder.resolve() / 'libgcc_s.so.1'} -lgcc )\n")
    for name in with_libc:
        if not name.startswith("ld-"):
            (folder / (name.partition(".so")[0] + ".so")).write_text(f"INPUT ( AS_NEEDED ( {folder.resolve() / name} ) )\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
