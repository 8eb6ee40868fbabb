#!/usr/bin/env python3
"""Reads and writes arrays for the examples of setup.sh, in NumPy's file format, with Python's own library only.

write FILE SHAPE VALUE...        writes a float32 array; SHAPE as 2x3
expect FILE VALUE...             fails unless the float32 array holds these values
file-type-input FILE WHEEL OUT   writes the input of the file-type model of the package magika for FILE
file-type-answer OUT WHEEL LABEL [SCORE]   fails unless the model's answer is LABEL (and its score SCORE)
extract WHEEL PATTERN OUT        extracts the one file of the package whose path matches
voice-input FOLDER               writes the inputs of both models of the package silero-vad: 32 ms of two tones
voice-answer SCRIPT ONNX         fails unless both models' answers are the published one
"""
import fnmatch
import json
import math
import struct
import sys
import zipfile


def write(path, kind, shape, values):
    header = "{'descr': '<%s%d', 'fortran_order': False, 'shape': (%s), }" % (
        "f" if kind == "f" else "i", struct.calcsize("<" + kind), "".join("%d, " % size for size in shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack("<%d%s" % (len(values), kind), *values))


def read(path):
    with open(path, "rb") as opened:
        data = opened.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    if b"'<f4'" not in data[:begin]:
        sys.exit("%s does not hold float32 numbers" % path)
    return struct.unpack("<%df" % ((len(data) - begin) // 4), data[begin:])


def expect(path, wanted):
    got = read(path)
    if len(got) != len(wanted) or not all(math.isclose(a, b, abs_tol=1e-5) for a, b in zip(got, wanted)):
        sys.exit("%s holds %s; it should hold %s" % (path, list(got), wanted))
    print("The answer is %s, as it should be." % " ".join("%g" % value for value in got))


def member_of(wheel, pattern):
    with zipfile.ZipFile(wheel) as archive:
        names = fnmatch.filter(archive.namelist(), pattern)
        if len(names) != 1:
            sys.exit("%s holds %d files named %s; one was expected" % (wheel, len(names), pattern))
        return archive.read(names[0])


def file_type_input(path, wheel, out):
    """Writes the model's input: the first and the last bytes of a file without blanks at its ends, padded with a number
    that is no byte. The model's configuration says how many of each."""
    settings = json.loads(member_of(wheel, "*/models/*/config.min.json"))
    with open(path, "rb") as opened:
        content = opened.read()
    begin = list(content[:settings["block_size"]].lstrip()[:settings["beg_size"]])
    end = list(content[-settings["block_size"]:].rstrip()[-settings["end_size"]:])
    padding = settings["padding_token"]
    begin += [padding] * (settings["beg_size"] - len(begin))
    end = [padding] * (settings["end_size"] - len(end)) + end
    write(out, "i", [1, len(begin) + len(end)], begin + end)


def file_type_answer(path, wheel, label, score=None):
    labels = json.loads(member_of(wheel, "*/models/*/config.min.json"))["target_labels_space"]
    scores = read(path)
    best = max(range(len(scores)), key=scores.__getitem__)
    if len(scores) != len(labels) or labels[best] != label:
        sys.exit("the model says %s; it should say %s" % (labels[best:best + 1], label))
    if score is not None and not math.isclose(scores[best], float(score), abs_tol=1e-4):
        sys.exit("the model says %s with %.6f; it should be %s" % (label, scores[best], score))
    print("The model says: %s (%.4f), as it should." % (label, scores[best]))


def voice_input(folder):
    """The ONNX model also needs the 64 samples before these, and its state; the other model keeps both itself."""
    angles = [2 * math.pi * sample / 16000 for sample in range(512)]
    tones = [0.3 * math.sin(220 * angle) + 0.1 * math.sin(1200 * angle) for angle in angles]
    write(folder + "/x.npy", "f", [1, 512], tones)
    write(folder + "/input.npy", "f", [1, 576], [0.0] * 64 + tones)
    write(folder + "/state.npy", "f", [2, 1, 128], [0.0] * 256)
    write(folder + "/sr.npy", "q", [], [16000])


def voice_answer(script, onnx):
    got = [read(path)[0] for path in (script, onnx)]
    if not all(math.isclose(one, 0.264522, abs_tol=1e-4) for one in got) or not math.isclose(*got, abs_tol=1e-5):
        sys.exit("PyTorch says %.6f and ONNX Runtime %.6f; both should say 0.264522" % tuple(got))
    print("Speech with probability %.6f says PyTorch, %.6f says ONNX Runtime, as they should." % tuple(got))


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    command, rest = arguments[1], arguments[2:]
    if command == "write":
        write(rest[0], "f", [int(size) for size in rest[1].split("x")], [float(value) for value in rest[2:]])
    elif command == "expect":
        expect(rest[0], [float(value) for value in rest[1:]])
    elif command == "file-type-input":
        file_type_input(*rest)
    elif command == "file-type-answer":
        file_type_answer(*rest)
    elif command == "extract":
        with open(rest[2], "wb") as out:
            out.write(member_of(rest[0], rest[1]))
    elif command == "voice-input":
        voice_input(*rest)
    elif command == "voice-answer":
        voice_answer(*rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv)
