#!/usr/bin/env python3
"""Checks the crates in Cargo.lock: where they come from, their licences, and known advisories. Needs no network.

  scripts/dependencies.py                  check; exit 1 if something is not allowed
  scripts/dependencies.py update CHECKOUT  import the advisories from a checkout of github.com/rustsec/advisory-db

Decisions are in scripts/dependencies.toml, each with its reason. The advisories are a snapshot: `check` prints its date.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SNAPSHOT = FOLDER / "advisories.tsv"
# The target platform: crates for other systems are not built.
PLATFORM = "x86_64-unknown-linux-gnu"
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
# Kinds without a defect: printed, but no failure.
NOTES = {"unmaintained", "notice"}


def version(text):
    """A sortable key of a version; a pre-release sorts below its release."""
    numbers, _, pre = text.split("+")[0].partition("-")
    parts = [int(n) for n in numbers.split(".")]
    return (parts + [0, 0])[:3], pre == "", pre


def meets(found, requirement):
    """Whether a version meets a requirement as Cargo writes them: `>= 1.2, < 2`, `^0.3.1`, `~1.4`, `=1.0.0`."""
    for part in filter(None, (p.strip() for p in requirement.split(","))):
        operator, text = re.fullmatch(r"(>=|<=|>|<|=|\^|~|)\s*(\S+)", part).groups()
        wanted = version(text)
        if operator in ("", "^", "~"):
            given = text.split("-")[0].split(".")
            fixed = next((i for i, n in enumerate(given) if int(n) > 0), len(given) - 1)
            if operator == "~":
                fixed = min(1, len(given) - 1)
            below = wanted[0][:fixed] + [wanted[0][fixed] + 1] + [0] * (2 - fixed)
            holds = found >= wanted and found[0] < below
        else:
            holds = {
                ">=": found >= wanted, ">": found > wanted, "<": found < wanted,
                "<=": found <= wanted, "=": found == wanted,
            }[operator]
        if not holds:
            return False
    return True


def is_allowed(licence, allowed):
    """Whether a licence expression can be met with allowed licences only. `/` is the old spelling of OR."""
    tokens = re.findall(r"\(|\)|[\w.+-]+", licence.replace("/", " OR "))

    def either():
        result = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            result = both() or result
        return result

    def both():
        result = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            result = one() and result
        return result

    def one():
        if tokens[0] == "(":
            tokens.pop(0)
            result = either()
            tokens.pop(0)
            return result
        name = tokens.pop(0)
        if tokens and tokens[0] == "WITH":
            name += f" WITH {tokens.pop(1)}"
            tokens.pop(0)
        return name in allowed

    return either()


def update(checkout):
    git = ["git", "-C", checkout]
    commit = subprocess.check_output([*git, "log", "-1", "--format=%H %cs"], text=True).strip()
    names = subprocess.check_output([*git, "ls-tree", "-r", "--name-only", "HEAD", "crates"], text=True).split()
    lines = []
    for name in names:
        text = subprocess.check_output([*git, "show", f"HEAD:{name}"], text=True)
        about = tomllib.loads(text.split("```toml\n")[1].split("\n```")[0])
        advisory, versions = about["advisory"], about.get("versions", {})
        if "withdrawn" in advisory:
            continue
        good = versions.get("patched", []) + versions.get("unaffected", [])
        kind = advisory.get("informational", "vulnerability")
        title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "")
        lines.append("\t".join([advisory["package"], advisory["id"], kind, "; ".join(good), title]))
    SNAPSHOT.write_text(f"# github.com/rustsec/advisory-db {commit}, CC0-1.0\n" + "\n".join(sorted(lines)) + "\n")


def check():
    rules = tomllib.loads((FOLDER / "dependencies.toml").read_text())
    metadata = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", PLATFORM]
    packages = json.loads(subprocess.check_output(metadata, cwd=FOLDER.parent))["packages"]
    outside = [p for p in packages if p["source"] is not None]
    problems, notes = [], []
    for p in outside:
        name = f"{p['name']} {p['version']}"
        if p["source"] != CRATES_IO:
            problems.append(f"{name}: it comes from {p['source']}, which is not crates.io")
        licence = p["license"]
        if p["name"] in rules["licences"]["accepted"]:
            notes.append(f"{name}: {licence}; accepted: {rules['licences']['accepted'][p['name']]}")
        elif licence is None or not is_allowed(licence, set(rules["licences"]["allowed"])):
            problems.append(f"{name}: the licence {licence} is not allowed")
    head, *lines = SNAPSHOT.read_text().splitlines()
    accepted = dict(rules["advisories"])
    for package, identifier, kind, good, title in (line.split("\t") for line in lines):
        for p in (p for p in outside if p["name"] == package):
            if any(meets(version(p["version"]), requirement) for requirement in good.split("; ") if requirement):
                continue
            said = f"{package} {p['version']}: {identifier} ({kind}): {title}"
            if identifier in accepted:
                notes.append(f"{said}; accepted: {accepted[identifier]}")
                rules["advisories"].pop(identifier, None)
            elif kind in NOTES:
                notes.append(said)
            else:
                problems.append(f"{said}: update it, or accept it with a reason in scripts/dependencies.toml")
    problems += [f"{identifier} is accepted and concerns no crate: remove it" for identifier in rules["advisories"]]
    for note in notes:
        print(f"note: {note}")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{len(outside)} crates checked; advisories: {head[2:]}")
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["update"] and len(sys.argv) == 3:
        update(sys.argv[2])
    elif len(sys.argv) == 1:
        sys.exit(check())
    else:
        sys.exit(__doc__)
