#!/usr/bin/env python3
"""Validates result files against results/schema.json, and the schema against documents that it must refuse.

    validate_schema.py SCHEMA RESULT...

Exit codes: 0 all valid, 1 something is not, 77 skipped since the module jsonschema is missing.
"""

import copy
import json
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: the Python module jsonschema is missing (Debian and Ubuntu: python3-jsonschema)")
    sys.exit(77)


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse_constant)


def unit_errors(document, table):
    """Units and directions must be those of the schema's own table."""
    for cell in document["cells"]:
        for derived in (cell, cell["steady"] or {"metrics": {}}):
            for name, metric in derived["metrics"].items():
                expected = dict(table[name])
                if metric.get("per") == "step":
                    expected["unit"] = "ns/step"
                if "unit" in metric and any(metric[key] != value for key, value in expected.items()):
                    yield f"cell {cell['id']}: {name} has {metric['unit']}, {metric['better']}; the table says {expected}"


def first_cell(document, status):
    return next(c for c in document["cells"] if c["outcome"] and c["outcome"]["status"] == status)


def give_oom_a_metric(document):
    first_cell(document, "oom")["metrics"] = first_cell(document, "completed")["metrics"]


def give_failed_pass_metrics(document):
    entry = first_cell(document, "oom")["repetitions"][0]
    entry["metrics"] = entry["reached"]


def drop_cause(document):
    del first_cell(document, "oom")["outcome"]["cause"]


def invent_metric(document):
    first_cell(document, "completed")["metrics"]["fragmentation"] = {"unit": "ratio"}


def invent_status(document):
    first_cell(document, "completed")["outcome"]["status"] = "fine"


def negative_bytes(document):
    first_cell(document, "completed")["repetitions"][0]["metrics"]["peak_live_bytes"] = -1


def unknown_key(document):
    document["cells"][0]["colour"] = "red"


def other_version(document):
    document["schema"] = "vrambench.result/2"


MUST_BE_REFUSED = [give_oom_a_metric, give_failed_pass_metrics, drop_cause, invent_metric, invent_status, negative_bytes,
                   unknown_key, other_version]


def has_both(document):
    found = {c["outcome"]["status"] for c in document["cells"] if c["outcome"]}
    return {"oom", "completed"} <= found


def errors_of(path, schema, validator):
    document = load(path)
    for error in validator.iter_errors(document):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    yield from unit_errors(document, schema["x-metrics"])
    if not has_both(document):
        return
    for spoil in MUST_BE_REFUSED:
        spoiled = copy.deepcopy(document)
        spoil(spoiled)
        if validator.is_valid(spoiled):
            yield f"the schema accepts what {spoil.__name__} does"


def main(arguments):
    if len(arguments) < 2:
        print(__doc__)
        return 1
    schema = load(arguments[0])
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    properties = schema["definitions"]["metrics"]["properties"]
    failed = 0
    if set(properties) != set(schema["x-metrics"]):
        print("definitions/metrics and x-metrics do not name the same metrics")
        failed = 1
    for path in arguments[1:]:
        for error in errors_of(path, schema, validator):
            print(f"{path}: {error}")
            failed = 1
    print("INVALID" if failed else f"{len(arguments) - 1} files are valid")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
