#!/usr/bin/env python3
"""Writes the first inputs of the fuzzers: small files of every kind that the readers support.

make_seeds.py FOLDER     FOLDER is tests/fuzz/corpus; other files in it stay. Needs gcc, clang-14, lld-14, llvm-14.
"""
import io
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile


def run(*command):
    subprocess.run(command, check=True)


def elf(folder):
    source = folder / "seed.c"
    source.write_text("""
        extern int other(int); __thread int local = 3; int exported(int x) { return other(x) + local; }
        __asm__(".symver old, versioned@V1"); int old(void) { return 1; }
        __asm__(".symver newer, versioned@@V2"); int newer(void) { return 2; }
        struct { char magic[8]; unsigned size; } engine_plugin_v1 = {"ENGPLUG", 40};""")
    (folder / "map").write_text("V1 { global: exported; engine_plugin_v1; local: *; };\nV2 { } V1;\n")
    (folder / "other.c").write_text("int other(int x) { return x; }\n")
    (folder / "othermap").write_text("OTHER_1.0 { global: other; };\n")
    small = ["-shared", "-fPIC", "-nostdlib", "-s", "-O1", "-fno-asynchronous-unwind-tables", "-Wl,-z,noseparate-code",
             "-Wl,-z,norelro", "-Wl,-z,max-page-size=4096"]
    run("gcc", *small, "-Wl,-soname,libother.so.1", f"-Wl,--version-script={folder}/othermap", "-o", folder / "libother.so.1",
        folder / "other.c")
    common = [*small, source, folder / "libother.so.1", f"-Wl,--version-script={folder}/map"]
    run("gcc", *common, "-Wl,-soname,libseed.so.1", "-Wl,-rpath,$ORIGIN:/opt/x", "-Wl,--hash-style=both",
        "-Wl,--build-id=sha1", "-Wl,-z,x86-64-v3", "-o", folder / "gnu.so")
    return {"gnu.so": (folder / "gnu.so").read_bytes(), "other.so": (folder / "libother.so.1").read_bytes()}


def pe(folder):
    source = folder / "seed.c"
    source.write_text("""
        __declspec(dllimport) int one(void); __declspec(dllimport) int two(void);
        int __delayLoadHelper2(void) { return 0; }
        __attribute__((section(".nv_fatb"), used)) const unsigned code[] = {0xBA55ED50, 0x00100001, 72, 0,
            0x01010002, 64, 8, 0, 0, 0, 0, 89, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7};
        char first[40] = {1}, last;
        struct { void *begin, *end, *index, *callbacks; unsigned zeroes, flags; } _tls_used = {first, first + 40, &last, 0, 24};
        struct { char magic[8]; unsigned size; } __declspec(dllexport) engine_plugin_v1 = {"ENGPLUG", 40};
        __declspec(dllexport) int engine(void) { return one() + two(); }""")
    for name, symbol in (("first", "one @5 NONAME"), ("second", "two")):
        (folder / f"{name}.def").write_text(f"LIBRARY {name}.dll\nEXPORTS\n  {symbol}\n")
        run("llvm-dlltool-14", "-m", "i386:x86-64", "-d", folder / f"{name}.def", "-l", folder / f"{name}.lib")
    (folder / "seed.manifest").write_text(
        '<assembly><dependency><dependentAssembly><assemblyIdentity name="Some.CRT" version="9.0.1.2"/>'
        "</dependentAssembly></dependency></assembly>")
    (folder / "seed.rc").write_text(f'1 VERSIONINFO\nFILEVERSION 1,2,3,4\nBEGIN\nEND\n2 24 "{folder}/seed.manifest"\n')
    run("llvm-rc-14", "/fo", folder / "seed.res", folder / "seed.rc")
    run("clang-14", "--target=x86_64-pc-windows-msvc", "-Os", "-c", "-o", folder / "seed.obj", source)
    run("lld-link-14", "/dll", "/noentry", "/machine:x64", f"/out:{folder}/seed.dll", folder / "seed.obj",
        folder / "seed.res", folder / "first.lib", folder / "second.lib", "/delayload:second.dll", "/include:_tls_used",
        "/export:heap=NTDLL.RtlAllocateHeap", "/export:hidden=engine,@9,NONAME", "/Brepro")
    return {"seed.dll": (folder / "seed.dll").read_bytes()}


def command(kind, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<II", kind, 8 + len(body)) + body


def dylib(kind, name):
    return command(kind, struct.pack("<IIII", 24, 2, 0x10203, 0x10000) + name + b"\0")


def segment(name, offset, size, sections=b""):
    return command(0x19, name.ljust(16, b"\0") + struct.pack("<QQQQIIII", 0, size, offset, size, 7, 7, len(sections) // 80, 0)
                   + sections)


def macho(cpu=0x0100000C, subtype=0):
    trie = (b"\0\1_\0\5" + b"\0\3engine_plugin_v1\0\x1fb\0\x23c\0\x28" + b"\2\0\0\0" + b"\3\x08\1\0\0"
            + b"\4\4\x80\x20\0\0")
    strings = b"\0_local\0_engine_plugin_v1\0_one\0"
    symbols = struct.pack("<IBBHQ", 8, 0x0F, 1, 0, 0) + struct.pack("<IBBHQ", 26, 0x01, 0, 0x0140, 0)
    fixups = struct.pack("<IIIIIII", 0, 0, 28, 32, 1, 1, 0) + struct.pack("<I", 1 | 1 << 9) + b"\0_one\0"
    thread = b"__thread_data".ljust(16, b"\0") + b"__DATA".ljust(16, b"\0") + struct.pack("<QQIIIIIIII", 0, 8, 0, 0, 0, 0,
                                                                                        0x11, 0, 0, 0)

    def commands(at):
        places, offset = {}, at
        for name, data in (("trie", trie), ("symbols", symbols), ("strings", strings), ("fixups", fixups)):
            places[name] = (offset, len(data))
            offset += len(data)
        return [segment(b"__TEXT", 0, at, thread), segment(b"__LINKEDIT", at, offset - at), dylib(0xD, b"@rpath/libseed.dylib"),
                dylib(0xC, b"/usr/lib/libSystem.B.dylib"), dylib(0x80000018, b"@rpath/libweak.dylib"),
                dylib(0x8000001F, b"@rpath/libinner.dylib"), dylib(0x80000023, b"@rpath/libup.dylib"),
                command(0x8000001C, struct.pack("<I", 12) + b"@loader_path/../x\0"), command(0x1B, bytes(range(16))),
                command(0x32, struct.pack("<IIII", 1, 0x0C0300, 0x0D0100, 0)),
                command(0x2, struct.pack("<IIII", places["symbols"][0], 2, *places["strings"])),
                command(0x80000033, struct.pack("<II", *places["trie"])),
                command(0x80000034, struct.pack("<II", *places["fixups"])),
                command(0x1D, struct.pack("<II", at, 16)), command(0x2C, struct.pack("<IIII", 0, 64, 0, 0))]

    size = 32 + sum(map(len, commands(0)))
    all_commands = commands(size)
    head = struct.pack("<IIIIIIII", 0xFEEDFACF, cpu, subtype, 6, len(all_commands), size - 32, 0x800085, 0)
    return head + b"".join(all_commands) + trie + symbols + strings + fixups


def universal(wide):
    slices = [(0x01000007, 8, macho(0x01000007, 8)), (0x0100000C, 2, macho(0x0100000C, 2))]
    head, body, start = struct.pack(">II", 0xCAFEBABF if wide else 0xCAFEBABE, 2), b"", 128
    for cpu, subtype, data in slices:
        form = ">IIQQII" if wide else ">IIIII"
        head += struct.pack(form, cpu, subtype, start + len(body), len(data), 0, *([0] if wide else []))
        body += data + bytes(-len(data) % 64)
    return head.ljust(start, b"\0") + body


def gpu_code(library):
    """The PE seed carries its section; an ELF file of nothing but headers and the section stands beside it."""
    blocks = b""
    for kind, arch, payload in ((2, 86, 24), (1, 120, 40), (2, 90, 8)):
        entry = struct.pack("<HHIQQII", kind, 0x101, 64, payload, 0, 0, arch).ljust(64, b"\0") + bytes(payload)
        blocks += struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry
    names = b"\0.nv_fatbin\0.shstrtab\0"
    at, names_at = 64, 64 + len(blocks)
    table = names_at + len(names)
    section = struct.Struct("<IIQQQQIIQQ")
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 56, 0, 64, 3, 2)
    sections = (bytes(64) + section.pack(1, 1, 2, 0, at, len(blocks), 0, 0, 8, 0)
                + section.pack(12, 3, 0, 0, names_at, len(names), 0, 0, 1, 0))
    return {"fatbin.so": head + blocks + names + sections, "fatbin.dll": library}


SNIFF = {
    "page": b"<!DOCTYPE html>\n<html><head><title>\n Sign in &amp; \n go </title></head><body>x</body></html>",
    "xhtml": b"\xef\xbb\xbf<?xml version='1.0'?><html><title>t</title></html>",
    "json": b'{"message": "Not Found"}',
    "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 98765\n",
    "script": b"/* GNU ld script */\nGROUP ( libc.so.6 )\n",
    "archive": b"!<arch>\n" + b"x" * 70,
    "gzip": b"\x1f\x8b\x08" + bytes(80),
    "text": b"404 page not found\n",
    "shebang": b"#!/bin/sh\n",
}


def zips():
    """Ordinary archives: stored and deflated, with a folder, a link, a late checksum, a comment."""
    result = {}
    for name, method in (("stored.zip", zipfile.ZIP_STORED), ("deflated.zip", zipfile.ZIP_DEFLATED)):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for entry, data in (("lib/", ""), ("lib/libseed.so.1", "seed" * 40), ("lib/libseed.so", "libseed.so.1")):
                info = zipfile.ZipInfo(entry, (2020, 1, 1, 0, 0, 0))
                info.compress_type = method
                info.create_system = 3
                info.external_attr = (0o120777 if data.startswith("lib") else 0o100755) << 16
                archive.writestr(info, data)
            archive.comment = b"seed"
        result[name] = file.getvalue()

    class Pipe(io.BytesIO):  # cannot seek: sizes follow the data
        def seekable(self):
            return False

        def seek(self, *_):
            raise OSError

        def tell(self):
            raise OSError

    file = Pipe()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("late", (2020, 1, 1, 0, 0, 0)), "follows")
    result["late.zip"] = file.getvalue()
    return result


NAMES = {"plain": b"torch/lib/libtorch.so.2", "device": b"lib/CON.txt", "climbs": b"a/../../b", "stream": b"a:b",
         "letters": "\u00c9t\u00e9/\u017f".encode(), "dots": b"./a/./b", "cut": b"\xc3", "deep": b"a/" * 2000 + b"x"}

ANSWER = {"range": b"bytes 100-199/200", "unsatisfied": b"bytes */200", "open": b"bytes 0-9/*",
          "page": b"<!-- x --><!DOCTYPE html><html><head><title>\n Sign in </title></head></html>",
          "xhtml": b"\xef\xbb\xbf<?xml version='1.0'?><html><title>t</title></html>",
          "url": b"https://user:p@ss@host:8080/path?query#part"}

CHUNKS = {"one": b"enginehost-chunks 1\nsize 100\nchunk 65536\n" + b"a" * 64 + b"\n",
          "two": b"enginehost-chunks 1\nsize 65537\nchunk 65536\n" + (b"0" * 64 + b"\n") * 2}

WHEEL = "sample-1.0-py3-none-any.whl"
PAGES = {"json": ('{"meta": {"api-version": "1.0"}, "name": "sample", "files": [{"filename": "%s", "url": "../%s", '
                  '"hashes": {"sha256": "%s"}, "size": 12}]}' % (WHEEL, WHEEL, "a" * 64)).encode(),
         "html": ('<!DOCTYPE html><html><body><a href="../%s#sha256=%s" data-yanked>%s</a><br></body></html>'
                  % (WHEEL.replace("-1", "%2B1&amp;"), "b" * 64, WHEEL)).encode()}


def main():
    root = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        windows = pe(folder)
        seeds = {
            "elf": elf(folder),
            "pe": windows,
            "macho": {"thin.dylib": macho(), "universal.dylib": universal(False), "universal64.dylib": universal(True)},
            "gpu_code": gpu_code(windows["seed.dll"]),
            "sniff": SNIFF,
            "symbols": {},
            "zip_directory": zips(),
            "archive_name": NAMES,
            "answer": ANSWER,
            "chunk_list": CHUNKS,
            "package_page": PAGES,
        }
    for target, files in seeds.items():
        (root / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (root / target / name).write_bytes(data)
            print(f"{target}/{name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
