#!/usr/bin/env python3
"""Compiles device code with NVRTC, NVIDIA's compiler as a library, and joins the results with fatbinary.

usage: compile_kernels.py --nvrtc LIBRARY --fatbinary PROGRAM --root FOLDER --output FILE SOURCE ARCHITECTURE...

FILE gets machine code for each ARCHITECTURE (86 is 8.6) and PTX of the last one. FOLDER is where SOURCE's own headers begin.
NVRTC's builtins lie beside it. Neither a driver nor a host compiler is needed, and the same input gives the same bytes.

Exit status: 0, 1 it cannot be compiled; the compiler's messages are printed.
"""
import argparse
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile

# NVRTC compiles without the system's headers. It has the runtime's types itself; the rest that the kernels take is here.
STANDARD = {"cuda_runtime_api.h": "", "cstddef": "", "cstdint": "typedef long int64_t;\n",
            "cmath": "#define INFINITY __int_as_float(0x7f800000)\n"}
# Functions without a mark are the host's and are refused; as the device's, which nothing calls, they leave no code.
OPTIONS = ["--std=c++17", "--device-as-default-execution-space"]


class Failed(Exception):
    pass


class Compiler:
    def __init__(self, library: pathlib.Path):
        for builtins in library.parent.glob("libnvrtc-builtins.so*"):
            ctypes.CDLL(str(builtins))  # NVRTC opens it by name, and not every release looks beside itself
        self.library = ctypes.CDLL(str(library))
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments) -> None:
        if result := getattr(self.library, name)(*arguments):
            raise Failed(f"{name}: {self.library.nvrtcGetErrorString(result).decode()}")

    def text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        content = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, content)
        return content.raw

    def compile(self, name: str, source: str, headers: dict, architecture: str) -> bytes:
        """Machine code for "sm_86", PTX for "compute_86"."""
        program = ctypes.c_void_p()
        strings = ctypes.c_char_p * len(headers)
        self.call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), len(headers),
                  strings(*[text.encode() for text in headers.values()]), strings(*[one.encode() for one in headers]))
        options = [f"--gpu-architecture={architecture}", *OPTIONS]
        result = self.library.nvrtcCompileProgram(program, len(options),
                                                  (ctypes.c_char_p * len(options))(*[one.encode() for one in options]))
        log = self.text(program, "ProgramLog").rstrip(b"\0\n").decode()
        if result or log:
            raise Failed(f"{name} for {architecture}:\n{log}")
        code = self.text(program, "CUBIN" if architecture.startswith("sm_") else "PTX")
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("nvrtc", "fatbinary", "root", "output"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("architectures", nargs="+")
    options = parser.parse_args()
    source = options.source.read_text()
    own = re.findall(r'^#include "(.+)"$', source, re.MULTILINE)
    headers = {**STANDARD, **{name: (options.root / name).read_text() for name in own}}
    newest = options.architectures[-1]
    try:
        compiler = Compiler(options.nvrtc)
        with tempfile.TemporaryDirectory() as scratch:
            # Not compressed, because CUDA 11 does not know the compression of newer toolkits.
            command = [options.fatbinary, "-64", "--compress=false", f"--create={options.output}"]
            for kind, architecture, number in [*(("elf", f"sm_{one}", one) for one in options.architectures),
                                               ("ptx", f"compute_{newest}", newest)]:
                file = pathlib.Path(scratch, architecture)
                file.write_bytes(compiler.compile(options.source.name, source, headers, architecture))
                command.append(f"--image3=kind={kind},sm={number},file={file}")
            joined = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if joined.returncode:
                raise Failed(f"fatbinary: {joined.stdout}")
    except (Failed, OSError) as error:
        print(f"compile_kernels: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
