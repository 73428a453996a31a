"""Compares our schema checker with Python's jsonschema (Draft 2020-12).

For every schema of the project, documents are made from the schema itself and from hand-written ones and
then damaged at random, with a fixed seed; both checkers must give the same verdict on each.

usage: schema_peer_test.py SCHEMA_CHECK   (run in the root of the repository)
exits 77, which ctest shows as skipped, where jsonschema 4 is not installed
"""

import copy
import json
import pathlib
import random
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3-jsonschema (4 or newer) is not installed")
    sys.exit(77)

MUTANTS_PER_SCHEMA = 400
ODD_VALUES = [None, True, False, 0, 1, 1.0, -1, 0.5, 2**53, 2**64, -(2**63), 1e300, "", "host", "a/b~", "ok",
              "\u00e4\U0001f600", "x" * 300, [], [1, 1.0], [None], {}, {"a": 1}, {"min": 1}]


def resolve(root, schema):
    while isinstance(schema, dict) and "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def example(root, schema, rng, depth=0):
    """A value that the schema probably accepts."""
    schema = resolve(root, schema)
    if not isinstance(schema, dict) or depth > 12:
        return 1
    if "const" in schema:
        return copy.deepcopy(schema["const"])
    if "enum" in schema:
        return copy.deepcopy(rng.choice(schema["enum"]))
    if "default" in schema and rng.random() < 0.3:
        return copy.deepcopy(schema["default"])
    value = by_type(root, schema, rng, depth)
    if "anyOf" in schema:
        form = example(root, rng.choice(schema["anyOf"]), rng, depth + 1)
        if isinstance(value, dict) and isinstance(form, dict):
            value.update(form)
        elif "type" not in schema and "properties" not in schema:
            value = form
    return value


def by_type(root, schema, rng, depth):
    types = schema.get("type", "object" if "properties" in schema else "string")
    kind = rng.choice(types) if isinstance(types, list) else types
    if kind == "object":
        return an_object(root, schema, rng, depth)
    if kind == "array":
        count = schema.get("minItems", 0) + rng.randrange(3)
        return [example(root, schema.get("items", True), rng, depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        low = max(schema.get("minimum", schema.get("exclusiveMinimum", -1)), -1000)
        return low + rng.randrange(3) if kind == "integer" else low + 0.5
    return {"null": None, "boolean": True, "string": "node01"}[kind]


def an_object(root, schema, rng, depth):
    required = schema.get("required", [])
    value = {}
    for name, member in schema.get("properties", {}).items():
        if name in required or rng.random() < 0.7:
            value[name] = example(root, member, rng, depth + 1)
    for name in required:
        value.setdefault(name, 1)
    others = schema.get("additionalProperties")
    if isinstance(others, dict) and rng.random() < 0.7:
        value["other"] = example(root, others, rng, depth + 1)
    return value


def places(value):
    """Every (container, key) inside value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, member in list(members):
        yield value, key
        yield from places(member)


def odd_value(rng):
    return copy.deepcopy(rng.choice(ODD_VALUES))


def damage(value, rng):
    found = list(places(value))
    if not found:
        return odd_value(rng)
    container, key = rng.choice(found)
    what = rng.randrange(4)
    if what == 0:
        del container[key]
    elif what == 1 and isinstance(container, dict):
        container[rng.choice(["extra", key + "s", "min", "default"])] = odd_value(rng)
    elif what == 2 and isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    else:
        container[key] = odd_value(rng)
    return value


def documents(root, seed):
    rng = random.Random(seed)
    for _ in range(MUTANTS_PER_SCHEMA):
        value = example(root, root, rng)
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            value = damage(value, rng)
        yield value


def main():
    questions, expected = [], []
    paths = sorted(pathlib.Path("schemas").rglob("*.json")) + [pathlib.Path("tests/data/core/every_keyword.json")]
    for path in paths:
        root = json.loads(path.read_text())
        Draft202012Validator.check_schema(root)
        validator = Draft202012Validator(root)
        for value in documents(root, str(path)):
            questions.append({"schema": str(path), "value": value})
            expected.append(validator.is_valid(value))
    text = "".join(json.dumps(question) + "\n" for question in questions)
    answers = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(questions), f"{len(answers)} answers to {len(questions)} questions"
    differences = 0
    for question, valid, answer in zip(questions, expected, answers):
        if (answer == "accepted") != valid:
            differences += 1
            print(f"ours: {answer}\npeer: {'accepted' if valid else 'refused'}\n  {json.dumps(question)[:600]}")
    accepted = sum(expected)
    print(f"{len(paths)} schemas, {len(questions)} documents, {accepted} accepted, {differences} differences")
    # A comparison in which one side of the verdict is rare would show little.
    assert accepted > 0.1 * len(questions) and accepted < 0.9 * len(questions), "the documents are one-sided"
    sys.exit(1 if differences else 0)


main()
