#!/usr/bin/env python3
"""Compares EngineHost's reading of pip's configuration with pip's own, over configurations made at random.

pip_settings_test.py PIP_SETTINGS_CHILD [COUNT]

The oracle is the option parser of `pip install` (of `pip download` where a configuration has that section). Exit status
77, which CTest reports as skipped, if this Python has no pip.
"""
import contextlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SKIPPED = 77
SEED = 20
COUNT = 150
OPTIONS = ("index_url", "extra_index_urls", "find_links", "trusted_hosts", "no_index", "cert", "client_cert", "proxy")
KEYS = ["index-url", "index_url", "INDEX-URL", "--index-url", "pypi-url", "extra-index-url", "find-links", "no-index",
        "trusted-host", "cert", "client-cert", "proxy", "timeout", "unknown-option"]
VALUES = {
    "index": ["https://one.invalid/simple", "http://u:p%40ss@two.invalid:8080/simple/", "file:///srv/simple", "/srv/simple", ""],
    "list": ["https://three.invalid/a https://four.invalid/b", "/opt/wheels", "one.invalid\n  two.invalid:8443", "", "\n  a\n\n  b"],
    "switch": ["1", "true", "Yes", "off", "0", "no", "", "maybe", "T"],
    "path": ["/etc/ssl/one.pem", "/tmp/two with space.pem", ""],
    "proxy": ["http://proxy.invalid:3128", "proxy.invalid:8080", "http://user:secret@proxy.invalid:1", ""],
}


def plain_name(key):
    return key.lower().replace("_", "-").lstrip("-")


def kind_of(key):
    plain = plain_name(key)
    if plain in ("index-url", "pypi-url"):
        return "index"
    if plain in ("extra-index-url", "find-links", "trusted-host"):
        return "list"
    if plain == "no-index":
        return "switch"
    if plain == "proxy":
        return "proxy"
    return "path" if "cert" in plain else None


def value_for(key, pick):
    kind = kind_of(key)
    if kind is None:
        return "15"
    # A switch that is no switch ends pip; a few of them are enough.
    values = [value for value in VALUES[kind] if value != "maybe" or pick.random() < 0.2]
    return pick.choice(values)


def file_text(pick):
    lines = []
    # One spelling of each option, because two in one section are an error of newer pips only.
    spelled = list({plain_name(key): key for key in pick.sample(KEYS, len(KEYS))}.values())
    if pick.random() < 0.01:
        lines.append("index-url = https://before.invalid/")
    sections = pick.sample(["global", "install", "DEFAULT", "download", "freeze", "global.extra"], pick.randint(1, 4))
    if pick.random() < 0.01:
        sections.append(sections[0])
    for section in sections:
        lines.append(pick.choice(["[%s]", "[%s]", "[%s] # behind", "  [%s]"]) % section)
        keys = pick.sample(spelled, pick.randint(0, 5))
        if keys and pick.random() < 0.01:
            keys.append(keys[0])
        for key in keys:
            # An indented key continues the value of a key that is not.
            indent = "  " if pick.random() < 0.05 else ""
            value = value_for(key, pick).replace("\n", "\n" + indent)
            lines.append(indent + key + pick.choice(["=", " = ", ": ", ":"]) + value)
            lines.extend(pick.choice([[], [], [], [""], ["# a comment"], ["; a comment"], ["    # an indented comment"]]))
            if kind_of(key) == "list" and pick.random() < 0.3:
                lines.extend(pick.choice([["", indent + "    continued"], [indent + "\tcontinued"]]))
            if pick.random() < 0.01:
                lines.append("a line that is none")
    return pick.choice(["\n", "\n", "\r\n", "\r"]).join(lines) + pick.choice(["", "\n", "\n\n"])


def configuration(pick, folder):
    """Writes files below the folder. Returns the variables."""
    variables = {"HOME": str(folder / "home"), "VIRTUAL_ENV": str(folder / "site")}
    places = [folder / "xdg/one/pip", folder / "xdg/two/pip", folder / "home/.pip", folder / "home/.config/pip",
              folder / "config/pip", folder / "site"]
    for place in places:
        place.mkdir(parents=True)
        if pick.random() < 0.4:
            (place / "pip.conf").write_bytes(file_text(pick).encode())
    (folder / "site/pyvenv.cfg").write_text("")
    if pick.random() < 0.02:
        (folder / "home/.config/pip/pip.conf").write_bytes(b"[global]\nproxy = \xff\xfe\n")
    variables["XDG_CONFIG_DIRS"] = pick.choice([f"{folder}/xdg/one", f"{folder}/xdg/one:{folder}/xdg/two", " ", ""])
    if pick.random() < 0.4:
        variables["XDG_CONFIG_HOME"] = pick.choice([f"{folder}/config", " ", ""])
    if pick.random() < 0.3:
        (folder / "named.conf").write_bytes(file_text(pick).encode())
        variables["PIP_CONFIG_FILE"] = pick.choice([os.devnull, f"{folder}/named.conf", f"{folder}/missing.conf", ""])
    for key in pick.sample(["index-url", "pypi-url", "extra-index-url", "find-links", "no-index", "trusted-host", "cert",
                            "client-cert", "proxy"], pick.choice([0, 0, 1, 3])):
        variables["PIP_" + key.upper().replace("-", "_")] = value_for(key, pick).replace("\n", " ")
    if "PIP_PYPI_URL" in variables:  # pip takes the last in the order of the environment
        variables.pop("PIP_INDEX_URL", None)
    return variables


def of_pip(command, variables, site):
    from pip._internal.commands import create_command
    before = dict(os.environ), sys.prefix
    os.environ.clear()
    os.environ.update(variables)
    sys.prefix = str(site)
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            options, _ = create_command(command).parser.parse_args([])
        return {name: getattr(options, name) for name in OPTIONS}
    except SystemExit:
        return {"refused": output.getvalue().strip().splitlines()[-1:]}
    finally:
        os.environ.clear()
        os.environ.update(before[0])
        sys.prefix = before[1]


def of_enginehost(child, variables):
    reported = json.loads(subprocess.run([child], check=True, env=variables, stdout=subprocess.PIPE).stdout)
    reported.pop("skipped", None)
    return reported


def plain(answer, default):
    """pip's values as EngineHost prints them."""
    if "refused" in answer:
        return "refused"
    answer = dict(answer)
    # EngineHost refuses relative paths.
    if any(answer[name] and not answer[name].startswith("/") for name in ("cert", "client_cert")):
        return "refused"
    for name in OPTIONS:
        if answer[name] is None:
            answer[name] = ""
    answer["index_url"] = "" if answer["index_url"] == default else answer["index_url"]
    answer["no_index"] = bool(answer["no_index"])
    return answer


def main():
    child, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else COUNT
    try:
        import pip._internal.commands  # noqa: F401
    except ImportError:
        print("skipped: this Python has no pip")
        return SKIPPED
    default = of_pip("install", {"PIP_CONFIG_FILE": os.devnull}, "/")["index_url"]
    pick, refused, differing = random.Random(SEED), 0, 0
    for number in range(count):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            variables = {**configuration(pick, folder), "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
            everything = "".join(path.read_text(errors="replace") for path in folder.rglob("*.conf"))
            # pip has no command that obeys both sections.
            if "[download]" in everything and "[install]" in everything:
                for path in folder.rglob("*.conf"):
                    path.write_bytes(path.read_bytes().replace(b"[download]", b"[freeze2]"))
            command = "download" if "[download]" in everything and "[install]" not in everything else "install"
            theirs = of_pip(command, variables, folder / "site")
            ours = of_enginehost(child, variables)
            if "option timeout" in "".join(theirs.get("refused", [])):
                continue  # a setting that EngineHost does not read
            refused += "refused" in theirs
            if plain(theirs, default) != ("refused" if "refused" in ours else ours):
                differing += 1
                print(f"configuration {number} ({command}): {variables}")
                for path in sorted(folder.rglob("*.conf")):
                    print(f"--- {path.relative_to(folder)}\n{path.read_bytes()!r}")
                print("pip:       ", theirs, "\nEngineHost:", ours)
    print(f"{count} configurations, {refused} of them refused by pip, {differing} read differently")
    return 1 if differing or refused == 0 or refused == count else 0


if __name__ == "__main__":
    sys.exit(main())
