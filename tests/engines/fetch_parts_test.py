#!/usr/bin/env python3
"""Tests what engines/cuda/fetch_parts.py does without a network: licenses, and its table against the manifest."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = json.loads((ROOT / "manifests/templates/cuda.json").read_text())
TABLE = json.loads((ROOT / "engines/cuda/parts.json").read_text())
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "engines/cuda"))
import fetch_parts  # noqa: E402


class FetchParts(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name, "cuda")

    def fetch(self, *arguments):
        return subprocess.run([sys.executable, "-B", ROOT / "engines/cuda/fetch_parts.py", *arguments, self.folder],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def test_nothing_is_fetched_without_both_licenses(self):
        licenses = ["LicenseRef-NVIDIA-CUDA-EULA", "LicenseRef-NVIDIA-cuDNN-SLA"]
        for accepted in ([], licenses[:1], licenses[1:]):
            fetched = self.fetch(*[word for one in accepted for word in ("--accept-license", one)])
            self.assertEqual((fetched.returncode, fetched.stdout), (3, "\n"), fetched.stderr)
            for one in licenses:
                self.assertEqual(one in fetched.stderr, one not in accepted, fetched.stderr)
            self.assertFalse(self.folder.exists())

    def test_a_release_that_is_there_needs_neither_network_nor_license(self):
        for version, (code, wheels) in fetch_parts.releases(TEMPLATE).items():
            release = {"cuda": version, "code": code, "parts": {file: TABLE[file]["tree"] for _, file, _ in wheels}}
            (self.folder / version).mkdir(parents=True)
            (self.folder / version / "release.json").write_text(json.dumps(release))
        fetched = self.fetch()
        self.assertEqual(fetched.returncode, 0, fetched.stderr)
        self.assertEqual(sorted(pathlib.Path(one).name for one in fetched.stdout.strip().split(";")), ["11.8", "13.0"])

    def test_the_rows_of_the_manifest_name_the_size(self):
        size = f"{sum(TABLE[file]['fetched'] for _, wheels in fetch_parts.releases(TEMPLATE).values() for _, file, _ in wheels) >> 20} MiB"
        rows = [build for build in TEMPLATE["builds"] if build["os"] == "linux"]
        self.assertEqual(len(rows), 2)
        for said in [build["not_built"] for build in rows] + [self.fetch().stderr, fetch_parts.__doc__.replace("\n", " ")]:
            self.assertIn(size, said)


if __name__ == "__main__":
    unittest.main()
