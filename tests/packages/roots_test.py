#!/usr/bin/env python3
"""The files of scripts/package.sh in roots of other systems, over the package index, and what other tools say of them.

usage: roots_test.py FOLDER [SUITE]...

FOLDER holds the .tar.xz and the wheel. SUITE: a release of Debian; bullseye (glibc 2.31, Python 3.9) and sid (the newest Python)
if none is named. Needs root and mmdebstrap; a root takes one minute to make and 300 MB. Exit status: 0 passed, 1 something
failed, 77 skipped, with the reason.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(sys.argv[1]).resolve()
SUITES = sys.argv[2:] or ["bullseye", "sid"]
SKIPPED = 77
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
# Debian; Fedora and RHEL; openSUSE; Alpine.
PLACES = ("etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt", "etc/ssl/ca-bundle.pem", "etc/ssl/cert.pem")
# Asked of pip, because EngineHost names none: the address that pip uses where nothing is configured.
INDEX = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def index_of_pip() -> str:
    configured = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    return configured.stdout.strip() or subprocess.run([sys.executable, "-c", INDEX], check=True, capture_output=True,
                                                       text=True).stdout.strip()


class Root:
    """A folder with a system of its own."""

    def __init__(self, suite: str, folder: pathlib.Path):
        self.folder = folder
        # A mirror may be some weeks old, and unstable is signed for one.
        made = subprocess.run(["mmdebstrap", '--aptopt=Acquire::Check-Valid-Until "false"', "--variant=minbase", "--include=python3-venv,python3-pip", suite, folder],
                              capture_output=True, text=True)
        if made.returncode != 0:
            skip(f"mmdebstrap cannot make {suite}: {made.stderr.strip().splitlines()[-1]}")
        # No folder of this machine is mounted there, because the root is removed at the end.
        subprocess.run(["mount", "-t", "proc", "proc", folder / "proc"], check=True)
        for name, minor in (("null", 3), ("zero", 5), ("random", 8), ("urandom", 9)):
            if not (folder / "dev" / name).exists():
                os.mknod(folder / "dev" / name, 0o20666, os.makedev(1, minor))
        for name in ("etc/resolv.conf", "etc/hosts"):
            shutil.copy(f"/{name}", folder / name)
        shutil.rmtree(folder / "etc/ssl", ignore_errors=True)

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", self.folder / "proc"], check=False)

    def put_certificates(self, place: str) -> None:
        for one in PLACES:
            (self.folder / one).unlink(missing_ok=True)
        if place:
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CERTIFICATES, self.folder / place)

    def run(self, *command: str, **environment: str):
        """Returns status, what was said, and the seconds."""
        begin = time.monotonic()
        ran = subprocess.run(["/usr/sbin/chroot", self.folder, *command], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL,
                             env={"PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", **environment})
        return ran.returncode, ran.stdout + ran.stderr, time.monotonic() - begin


class Failures(list):
    def check(self, holds: bool, what: str, said: str = "") -> None:
        print(("ok    " if holds else "FAILED  ") + what, flush=True)
        if not holds:
            self.append(what)
            print(said[-3000:])


def try_tar(root: Root, index: str, failures: Failures) -> None:
    (root.folder / "opt").mkdir(exist_ok=True)
    subprocess.run(["tar", "-xf", next(FOLDER.glob("*x86_64.tar.xz")), "-C", root.folder / "opt", "--strip-components=1",
                    "--one-top-level=enginehost"], check=True)
    info = "/opt/enginehost/bin/engine-info"
    for place in PLACES:
        root.put_certificates(place)
        status, said, seconds = root.run(info, "onnxruntime", "--package-index", index, "--cache", f"/var/cache/{place.replace('/', '-')}")
        failures.check(status == 0, f"tar: ONNX Runtime opens with the certificates at /{place}, {seconds:.1f} s", said)
    root.put_certificates("")
    status, said, _ = root.run(info, "onnxruntime", "--package-index", index, "--cache", "/var/cache/none")
    failures.check(status != 0 and "EH-N38" in said, "tar: a machine without certificates gets EH-N38", said)
    shutil.copy(CERTIFICATES, root.folder / "root/own.pem")
    status, said, _ = root.run(info, "onnxruntime", "--package-index", index, "--cache", "/var/cache/own", SSL_CERT_FILE="/root/own.pem")
    failures.check(status == 0, "tar: SSL_CERT_FILE serves there", said)
    root.put_certificates(PLACES[0])
    status, said, seconds = root.run(info, "pytorch", "--package-index", index, "--cache", "/var/cache/torch")
    failures.check(status == 0, f"tar: PyTorch opens without a compiler, {seconds:.1f} s", said)


def try_wheel(root: Root, index: str, failures: Failures) -> None:
    wheel = next(FOLDER.glob("*x86_64.whl"))
    shutil.copy(wheel, root.folder / "root")
    root.put_certificates(PLACES[0])
    _, python, _ = root.run("python3", "-V")
    python = python.strip()
    status, said, _ = root.run("sh", "-c", f"python3 -m venv /root/venv && /root/venv/bin/pip install --no-index /root/{wheel.name}")
    failures.check(status == 0, f"wheel: {python} installs it offline", said)
    status, said, _ = root.run("/root/venv/bin/pip", "install", "--no-index", "--target", "/root/target", f"/root/{wheel.name}")
    failures.check(status == 0, f"wheel: {python} installs it with --target", said)
    status, said, _ = root.run("/root/target/bin/engine-info", "reference")
    failures.check(status == 0, "wheel: the command in the target opens an engine", said)
    cert = {"PIP_CERT": "/" + PLACES[0], "PIP_INDEX_URL": index}
    status, said, own = root.run("/root/venv/bin/engine-info", "onnxruntime", "--cache", "/var/cache/wheel", **cert)
    failures.check(status == 0, f"wheel: ONNX Runtime opens from an empty cache, {own:.1f} s", said)
    version = next((line.split()[1] for line in said.splitlines() if line.split()[:1] == ["version"]), "")
    status, said, pip = root.run("/root/venv/bin/pip", "download", "--no-cache-dir", "--no-deps", "--only-binary=:all:",
                                 "--python-version=3.11", "-d", "/root/downloaded", f"onnxruntime=={version}", **cert)
    failures.check(status == 0 and own <= 3 * pip, f"wheel: that takes at most three times pip download, {pip:.1f} s", said)


def try_tools(folder: pathlib.Path, index: str, failures: Failures) -> None:
    """Tools that check wheels, and uv, on this machine."""
    wheel = next(FOLDER.glob("*x86_64.whl"))
    bin_of = folder / "tools/bin"
    subprocess.run([sys.executable, "-m", "venv", folder / "tools"], check=True)
    subprocess.run([bin_of / "pip", "install", "--quiet", "--index-url", index, "auditwheel", "check-wheel-contents", "twine", "uv"],
                   check=True)
    environment = {"PATH": f"{bin_of}:/usr/bin:/bin", "HOME": str(folder)}
    # auditwheel does not find the library of the commands, which it looks for where nothing is installed.
    for command, expected in ((["auditwheel", "show", wheel], 'constrains the platform tag to "manylinux_2_28_x86_64"'),
                              (["check-wheel-contents", wheel], "OK"), (["twine", "check", "--strict", wheel], "PASSED"),
                              (["uv", "tool", "install", "--offline", wheel], "engine-info"),
                              ([folder / ".local/bin/engine-info", "reference"], "reference")):
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        said = ran.stdout + ran.stderr
        failures.check(ran.returncode == 0 and expected in " ".join(said.split()), f"{pathlib.Path(command[0]).name}: {expected}", said)


# Opens an engine; called by Python that holds other releases of what the library has linked in.
OPENS = """#include <enginehost/enginehost.h>
#include <stdio.h>
int open_engine(const char *name, const char *cache, const char *index) {
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  enginehost_engine *engine = NULL;
  request.engine = name;
  request.cache = cache;
  request.package_index = index;
  enginehost_error *error = NULL;
  enginehost_status status = enginehost_open(&request, &engine, &error);
  if (status != 0) puts(enginehost_error_text(error));
  enginehost_engine_free(engine);
  return status != 0;
}
"""
# pycurl has libcurl and OpenSSL of its own, lxml has libxml2, and the machine's libarchive comes with its own libraries.
BESIDE = """
import ctypes, io, sys
import pycurl, lxml.etree
archive = ctypes.CDLL("libarchive.so.13")
archive.archive_version_string.restype = ctypes.c_char_p
library, name, cache, index = sys.argv[1:]
def works():
    page = io.BytesIO()
    request = pycurl.Curl()
    request.setopt(request.URL, index + "onnxruntime/")
    request.setopt(request.WRITEDATA, page)
    request.setopt(request.CAINFO, "/etc/ssl/certs/ca-certificates.crt")
    request.perform()
    assert b"onnxruntime" in page.getvalue(), page.getvalue()[:200]
    assert lxml.etree.fromstring("<a><b/></a>")[0].tag == "b"
    assert archive.archive_version_string().startswith(b"libarchive 3")
works()
opener = ctypes.CDLL(library)
assert opener.open_engine(name.encode(), cache.encode(), index.encode()) == 0
works()
print("both work:", pycurl.version)
"""


def try_beside_other_releases(folder: pathlib.Path, index: str, failures: Failures) -> None:
    python = folder / "application/bin/python"
    subprocess.run([sys.executable, "-m", "venv", folder / "application"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--index-url", index, "pycurl", "lxml", next(FOLDER.glob("*x86_64.whl"))],
                   check=True)
    package = next((folder / "application").glob("lib/python3*/site-packages/enginehost"))
    opener = folder / "opener.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", opener, f"-I{package}/include", f"-Wl,-rpath,{package}/lib",
                    "-x", "none", package / "lib/libenginehost.so.0"], input=OPENS, text=True, check=True)
    ran = subprocess.run([python, "-c", BESIDE, opener, "onnxruntime", folder / "cache", index.rstrip("/") + "/"],
                         capture_output=True, text=True)
    failures.check(ran.returncode == 0, "an application with other releases of libcurl, OpenSSL and libxml2 fetches and opens "
                   "ONNX Runtime, and theirs work before and after it: " + ran.stdout.strip(), ran.stdout + ran.stderr)


def main() -> int:
    if not list(FOLDER.glob("*x86_64.whl")):
        skip(f"{FOLDER} has no wheel; scripts/package.sh makes one")
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        skip("it needs root and mmdebstrap")
    failures, index = Failures(), index_of_pip()
    with tempfile.TemporaryDirectory() as scratch:
        try_tools(pathlib.Path(scratch), index, failures)
        try_beside_other_releases(pathlib.Path(scratch), index, failures)
    for suite in SUITES:
        with tempfile.TemporaryDirectory() as scratch:
            print(suite, flush=True)
            root = Root(suite, pathlib.Path(scratch) / "root")
            try:
                try_tar(root, index, failures)
                try_wheel(root, index, failures)
            finally:
                root.close()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
