#!/usr/bin/env python3
"""Installs one build on many hosts, each in its own network namespace: from one registry, through one pull-through mirror
cold and warm, and from a shared read-only layer. Counts the bytes on the registry's and the mirror's links.

fleet.py BUILD_FOLDER [--hosts N] [--payload MiB] [--write PAGE]

--write puts the figures between the marks of PAGE (docs/fleet.md). Needs root, ip and docker-registry; without them
the exit status is 77. Exit status 1: a host got no build, or a link carried more than the page promises.
"""
import argparse
import hashlib
import io
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
import time

REGISTRY, MIRROR = "10.77.1.1", "10.77.2.1"
BEGIN, END = "<!-- figures of tests/oci/fleet.py -->", "<!-- end of figures -->"


def missing():
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    for program in ("ip", "docker-registry", "setpriv"):
        if not shutil.which(program):
            return "needs " + program
    name = "enginehost-fleet-%d-try" % os.getpid()
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if tried.returncode:
        return "network namespaces cannot be made here: " + tried.stderr.strip()
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return None


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


class Network:
    """A bridge in a namespace; every machine is a namespace with one link to it."""

    def __init__(self):
        self.prefix = "enginehost-fleet-%d-" % os.getpid()
        self.names, self.processes = [], []
        self.hub = self.namespace("hub")
        ip("-n", self.hub, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.hub, "link", "set", "bridge", "up")

    def namespace(self, name):
        full = self.prefix + name
        ip("netns", "add", full)
        self.names.append(full)
        ip("-n", full, "link", "set", "lo", "up")
        return full

    def machine(self, name, address):
        full = self.namespace(name)
        wire = "w%d" % len(self.names)
        ip("-n", self.hub, "link", "add", wire, "type", "veth", "peer", "name", "eth", "netns", full)
        ip("-n", self.hub, "link", "set", wire, "master", "bridge")
        ip("-n", self.hub, "link", "set", wire, "up")
        ip("-n", full, "address", "add", address + "/16", "dev", "eth")
        ip("-n", full, "link", "set", "eth", "up")
        return full

    def start(self, where, command, **options):
        process = subprocess.Popen(["ip", "netns", "exec", where, "setpriv", "--pdeathsig", "KILL", *command], **options)
        self.processes.append(process)
        return process

    def sent(self, where):
        """Bytes that left the machine, headers and acknowledgements too."""
        reported = subprocess.run(["ip", "-n", where, "-s", "-j", "link", "show", "eth"], check=True, capture_output=True)
        return json.loads(reported.stdout)[0]["stats64"]["tx"]["bytes"]

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name])


class Fleet:
    def __init__(self, build, folder, hosts, payload):
        self.build, self.folder = build, folder
        self.network = Network()
        self.registry = self.network.machine("registry", REGISTRY)
        self.mirror = self.network.machine("mirror", MIRROR)
        self.seeder = self.network.machine("seeder", "10.77.2.2")
        self.hosts = [self.network.machine("host%d" % n, "10.77.3.%d" % (n + 1)) for n in range(hosts)]
        self.payload = payload
        self.caches = 0

    def registry_server(self, where, name, address, more=""):
        config = self.folder / (name + ".yml")
        config.write_text("version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: %s}}\n"
                          "http: {addr: \"%s:5000\", secret: fleet}\n%s" % (self.folder / name, address, more))
        log = open(self.folder / (name + ".log"), "a")
        process = self.network.start(where, ["docker-registry", "serve", str(config)], stdout=log, stderr=log)
        for _ in range(1000):
            probe = ["ip", "netns", "exec", where, "python3", "-c",
                     "import socket; socket.create_connection(('%s', 5000), 1)" % address]
            if subprocess.run(probe, capture_output=True).returncode == 0:
                return process
            time.sleep(0.02)
        raise SystemExit("docker-registry did not start; see " + str(config))

    def gets_of_blobs(self, name):
        log = (self.folder / (name + ".log")).read_text()
        return len(re.findall(r'"GET /v2/\S+/blobs/\S+ HTTP', log))

    def environment(self, cache, **settings):
        config = self.folder / ("config%d.json" % self.caches)
        config.write_text(json.dumps(dict({"repositories_default": False, "system_layers": [],
                                           "plain_http_registries": [REGISTRY + ":5000", MIRROR + ":5000"]},
                                          **settings)))
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "ENGINEHOST_CONFIG": str(config),
                "ENGINEHOST_CACHE": str(cache)}

    def command(self, *arguments):
        return [str(self.build / "bin/engine-cache"), *arguments, "--json"]

    def publish(self):
        """Makes a build, installs it on one machine, and pushes it from there."""
        plugin = (self.build / "engines/libengine_reference.so").read_bytes()
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for name, data in (("libengine_reference.so", plugin), ("share/weights.bin", os.urandom(self.payload))):
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        first = self.folder / "first"
        first.mkdir()
        (first / "fleet.tar").write_bytes(archive.getvalue())
        artifact = {"sha256": hashlib.sha256(archive.getvalue()).hexdigest(), "size": len(archive.getvalue()),
                    "archive": "tar", "sources": [{"file": "fleet.tar"}]}
        manifest = {"format": 1, "engine": "reference", "serial": 1,
                    "components": {"fleet": {"artifacts": [artifact]}},
                    "builds": [{"id": "reference-9.0-cpu-linux", "version": "9.0", "flavor": "cpu", "os": "linux",
                                "arch": os.uname().machine, "components": [],
                                "plugin": {"component": "fleet", "path": "libengine_reference.so"}}]}
        write_repository(first, json.dumps(manifest).encode())
        self.seed = self.folder / "seed"
        run(["ip", "netns", "exec", self.seeder, *self.command("fetch", "reference", "--repository", str(first))],
            self.environment(self.seed))
        (first / "fleet.tar").unlink()  # what is pushed is packed from the cache
        reported = run(["ip", "netns", "exec", self.seeder,
                    *self.command("push", "reference-9.0-cpu-linux", REGISTRY + ":5000/engines/reference:9.0",
                                  "--manifest", str(self.folder / "fleet.json"))], self.environment(self.seed))
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        text = (self.folder / "fleet.json").read_bytes()
        write_repository(self.repository, text)
        self.size = json.loads(text)["components"]["fleet"]["artifacts"][0]["size"]
        return json.loads(reported)["sent"]

    def round(self, hosts, **settings):
        """All hosts at once, each with an empty cache of its own."""
        before = [self.network.sent(where) for where in (self.registry, self.mirror)]
        gets = [self.gets_of_blobs(name) for name in ("registry", "mirror")]
        began = time.monotonic()
        running = []
        for host in hosts:
            self.caches += 1
            cache = self.folder / ("cache%d" % self.caches)
            running.append((cache, self.network.start(
                host, self.command("fetch", "reference", "--repository", str(self.repository)),
                env=self.environment(cache, **settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE)))
        downloaded = 0
        for cache, process in running:
            out, errors = process.communicate(timeout=300)
            if process.returncode:
                raise SystemExit("a host got no build: %s %s" % (out.decode(), errors.decode()))
            downloaded += json.loads(out)["fetched"][0]["downloaded"]
            shutil.rmtree(cache, ignore_errors=True)
        seconds = time.monotonic() - began
        after = [self.network.sent(where) for where in (self.registry, self.mirror)]
        time.sleep(0.2)  # for the access logs
        return {"hosts": len(hosts), "seconds": seconds, "downloaded": downloaded,
                "registry": after[0] - before[0], "mirror": after[1] - before[1],
                "registry_gets": self.gets_of_blobs("registry") - gets[0],
                "mirror_gets": self.gets_of_blobs("mirror") - gets[1]}


def write_repository(folder, manifest):
    (folder / "reference.json").write_bytes(manifest)
    (folder / "index.json").write_text(json.dumps(
        {"format": 1, "name": "fleet", "serial": 1, "created": "2026-01-01T00:00:00Z", "manifests": [
            {"path": "reference.json", "sha256": hashlib.sha256(manifest).hexdigest(), "size": len(manifest)}]}))


def run(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return done.stdout


def table(size, rounds):
    yield "One build of %.1f MiB, %d hosts with empty caches that all begin at once, on one machine of %d cores:" % (
        size / 2**20, rounds[0][1]["hosts"], os.cpu_count())
    yield ""
    yield "| fed by | seconds | blobs asked of the registry | MiB out of the registry | of the mirror |"
    yield "|---|---|---|---|---|"
    for name, reported in rounds:
        yield "| %s | %.1f | %d | %.1f | %.1f |" % (name, reported["seconds"], reported["registry_gets"],
                                                    reported["registry"] / 2**20, reported["mirror"] / 2**20)


def check(size, rounds):
    reported = dict(rounds)
    for name, one in rounds[:3]:
        if one["downloaded"] != one["hosts"] * size:
            yield "%s: %d bytes were downloaded, not %d" % (name, one["downloaded"], one["hosts"] * size)
    direct, cold, warm, layer = (one for _, one in rounds)
    if not direct["hosts"] * size <= direct["registry"] <= 1.1 * direct["hosts"] * size + 2**20:
        yield "the registry sent %d bytes to %d hosts" % (direct["registry"], direct["hosts"])
    if direct["mirror"] > 2**20:
        yield "the mirror was asked although none is configured"
    if warm["registry"] > size // 2 or warm["registry_gets"] > 0:
        yield "the registry was asked for %d bytes although the mirror was warm" % warm["registry"]
    if layer["downloaded"] or layer["registry"] + layer["mirror"] > 2**16:
        yield "a shared layer was downloaded"
    if cold["registry"] > direct["registry"] * 1.1 + 2**20:
        yield "a cold mirror asked the registry for more than the hosts would have"
    assert len(reported) == 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--hosts", type=int, default=32)
    parser.add_argument("--payload", type=int, default=8, help="MiB")
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    if reason := missing():
        print("skipped: " + reason)
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="enginehost-fleet-") as folder:
        fleet = Fleet(arguments.build.resolve(), pathlib.Path(folder), arguments.hosts, arguments.payload << 20)
        try:
            fleet.registry_server(fleet.registry, "registry", REGISTRY)
            fleet.registry_server(fleet.mirror, "mirror", MIRROR,
                                  "proxy: {remoteurl: \"http://%s:5000\"}\n" % REGISTRY)
            fleet.publish()
            mirrored = {"registry_mirrors": ["%s:5000=%s:5000" % (REGISTRY, MIRROR)]}
            rounds = [("the registry itself", fleet.round(fleet.hosts)),
                      ("a mirror that is empty", fleet.round(fleet.hosts, **mirrored)),
                      ("a mirror that has it", fleet.round(fleet.hosts, **mirrored)),
                      ("a shared read-only layer", fleet.round(fleet.hosts, system_layers=[str(fleet.seed)]))]
        finally:
            fleet.network.end()
        lines = list(table(fleet.size, rounds))
        print("\n".join(lines))
        problems = list(check(fleet.size, rounds))
        for problem in problems:
            print("not as promised: " + problem)
        if arguments.write and not problems:
            page = arguments.write.read_text()
            start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
            arguments.write.write_text(page[:start] + "\n" + "\n".join(lines) + "\n" + page[stop:])
        return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
