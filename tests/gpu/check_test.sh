#!/usr/bin/env bash
# Packs the folder for machines with a GPU and runs its check under a fake driver. The figures of the fake device must
# agree, and a step that could not run must not be reported as a failure.
#
#   check_test.sh SOURCE BUILD
set -euo pipefail
source_folder=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$source_folder/tests/gpu/pack.sh" "$build" "$work/carried"

mkdir "$work/bin" "$work/driver"
cp "$build/tests/platform-fakes/libfake_cuda.so" "$work/driver/libcuda.so.1"
cp "$build/tests/platform-fakes/libfake_nvml.so" "$work/driver/libnvidia-ml.so.1"
printf '#!/bin/sh\necho "NVIDIA A100-SXM4-40GB, 40960, 8.0, 535.104.05"\n' >"$work/bin/nvidia-smi"
chmod +x "$work/bin/nvidia-smi"
PATH=$work/bin:$PATH LD_LIBRARY_PATH=$work/driver FAKE_CU_VERSION=12020 \
  FAKE_GPUS='NVIDIA A100-SXM4-40GB;8.0;1a;40960' python3 "$work/carried/check.py" --output "$work/report"
python3 - "$work/report.json" <<'PYTHON'
import json, sys
rows = {row["step"]: row for row in json.load(open(sys.argv[1], encoding="utf-8"))["rows"]}
for step in ("driver version", "number of devices", "device 0: name", "device 0: compute capability", "device 0: memory"):
    assert rows[step]["verdict"] == "agrees", rows[step]
assert rows["cuda cu130"]["expected"] == "predicted: rejected", rows["cuda cu130"]
assert "CUDA 13.0" in rows["cuda cu130"]["observed"], rows["cuda cu130"]
assert all(row["verdict"] != "FAILED" for row in rows.values()), rows
PYTHON
# The comparison of operations, whose engine needs a GPU, with the reference engine in its place; and the report when
# operations disagree or the program dies.
mkdir "$work/unpacked"
tar -C "$work/unpacked" -xJf "$work/carried/enginehost.tar.xz"
PYTHONPATH=$work/carried PYTHONDONTWRITEBYTECODE=1 python3 - "$work/unpacked/enginehost" "$work" <<'PYTHON'
import check, os, sys
folder, work = sys.argv[1:]
host, report = check.Host(folder, work), check.Report()
places = ["--repository", host.repository]
check.check_operations(host, report, "reference", "cpu", places)
rows = {row["step"]: row for row in report.rows}
for name in ("Add", "Conv", "MatMul", "Mul", "Relu", "Softmax"):
    row = rows["reference cpu against reference: " + name]
    assert row["verdict"] == "agrees" and ", 0 disagree; " in row["observed"], row
assert sum(step.startswith("reference cpu against reference: opening ") for step in rows) == 3, rows
assert not report.failed(), rows

carried = os.path.join(folder, "bin", "gpu_compare_operations")
os.remove(carried)

def verdicts_of(program):
    with open(carried, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + program)
    os.chmod(carried, 0o755)
    report = check.Report()
    check.check_operations(host, report, "reference", "cpu", places)
    return [(row["verdict"], row["observed"]) for row in report.rows]

reported = verdicts_of("echo 'DISAGREE Add [3] in host memory: x'; echo 'Add: 1 agree, 0 refused by both, 1 disagree; x'; exit 1")
assert [verdict for verdict, _ in reported] == ["FAILED", "FAILED"], reported
died = verdicts_of("echo '17: Conv [1]' >&2; kill -SEGV $$")
assert died == [("FAILED", "status -11 in 17: Conv [1]")], died
PYTHON
# Without a GPU it reports that.
status=0
python3 "$work/carried/check.py" --output "$work/none" >/dev/null 2>"$work/said" || status=$?
if ! command -v nvidia-smi >/dev/null; then
  [ "$status" -eq 3 ] && grep -q 'no NVIDIA GPU' "$work/said"
fi
