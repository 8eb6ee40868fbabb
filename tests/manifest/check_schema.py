"""Checks the JSON Schemas with the table of documents and with every manifest in the tree.

usage: check_schema.py SOURCE_FOLDER [FOLDER WITH MANIFESTS...]
"""
import copy
import json
import pathlib
import sys

import jsonschema

REMOVED = object()


def changed(document, pointer, value):
    if not pointer:
        return value
    document = copy.deepcopy(document)
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    place = document
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place[part]
    key = int(last) if isinstance(place, list) else last
    if value is REMOVED:
        del place[key]
    else:
        place[key] = value
    return document


def facts_problems(validator, facts):
    """The tree's vendor facts fit their schema, and changed ones do not."""
    yield from (f"vendor facts: {error.json_path}: {error.message}" for error in validator.iter_errors(facts))
    for pointer, value in (("/format", 2), ("/serial", "1"), ("/date", "today"), ("/cuda_toolkits", []),
                           ("/cuda_toolkits/0/version", "13"), ("/cuda_toolkits/0/linux_driver", "new"),
                           ("/cuda_minor_versions/0/major", REMOVED), ("/compute_capabilities/0/capability", "100.0"),
                           ("/compute_capabilities/0/capability", "8.10"), ("/libraries/0/file", "../libc.so.6"),
                           ("/libraries/0/what", "x" * 501), ("/engines/0/version_file", "/etc/passwd"),
                           ("/engines/0/main_libraries", []), ("/engines/0/abi_symbol", REMOVED)):
        if validator.is_valid(changed(facts, pointer, value)):
            yield f"vendor facts: schema would accept {value!r} at {pointer}"


def main():
    source = pathlib.Path(sys.argv[1])
    schemas, problems, checked = {}, [], 0
    for kind in ("manifest", "index"):
        schema = json.loads((source / f"manifests/schema/{kind}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        schemas[kind] = jsonschema.Draft202012Validator(schema)

    table = json.loads((source / "tests/manifest/documents.json").read_text())
    for kind, validator in schemas.items():
        problems += [f"{kind}: the base document: {error.message}" for error in validator.iter_errors(table[kind])]
        for case in table[f"{kind}_cases"]:
            if case["schema"] == "cannot say":
                continue
            checked += 1
            document = changed(table[kind], case["path"], case.get("value", REMOVED))
            verdict = "accept" if validator.is_valid(document) else "refuse"
            if verdict != case["schema"]:
                problems.append(f"{kind}: {case['name']}: schema would {verdict}")

    facts_schema = json.loads((source / "manifests/schema/vendor-facts.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(facts_schema)
    facts_validator = jsonschema.Draft202012Validator(facts_schema)
    problems += facts_problems(facts_validator, json.loads((source / "manifests/vendor-facts.json").read_text()))

    # The templates of manifests/ are incomplete until the build has filled them in, so the packed manifests
    # are checked.
    for folder in map(pathlib.Path, sys.argv[2:]):
        documents = sorted(folder.rglob("*.json"))
        if not documents:
            problems.append(f"{folder} holds no document: build enginehost_repository first")
        for path in documents:
            document = json.loads(path.read_text())
            kind = "index" if "manifests" in document else "manifest"
            validator = facts_validator if path.parent.name == "vendor-facts" else schemas[kind]
            checked += 1
            problems += [f"{path}: {error.json_path}: {error.message}" for error in validator.iter_errors(document)]

    print("\n".join(problems) if problems else f"{checked} documents are as they should be")
    return 1 if problems else 0


sys.exit(main())
