#!/usr/bin/env python3
"""Checks the structure of the crates, by their source alone. Needs no build.

  scripts/structure.py            check; exit 1 with one line for each finding
  scripts/structure.py circles    print the circles of files of every crate

The rules, for everything that is no test:
  circles  Files of a crate use each other one way. Only a module and its own submodules may use each other.
  flags    Libraries report errors as data: no text in one names a command-line flag or a command.
  words    Only a model's own crate and the faces know the words of a model.
"""

import re
import sys
from pathlib import Path

CRATES = Path(__file__).resolve().parent.parent / "crates"

# Crates that type commands themselves.
FACES = {"cli", "bench", "python"}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+|`manyworlds [a-z]|`table [a-z]+`")

# The models, and the crates that show and measure them. All others serve every model and know the words of none.
MODELS = {"football", "bingo", "telecom", "cli", "bench", "python"}
WORDS = re.compile(
    r"(?<![a-z])(touchdowns?|quarters?|quarterbacks?|passers?|rushers?|receivers|possessions?|kickoffs?|punts?|fumbles?"
    r"|interceptions?|field_?goals?|yards|yard_line|box_?scores?|offen[cs]es?|home_(points|margin|won|score)|football"
    r"|bingo|clans?)(?![a-z])",
    re.IGNORECASE,
)

TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)|(?P<block>/\*)|\bb?r(?P<raw>\#*)"|(?P<text>\bb?"|")|b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^\\'\n])'""",
    re.DOTALL,
)
TEXT_END = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
BLOCK_EDGE = re.compile(r"/\*|\*/")
ITEM_START = re.compile(r"[;{]")
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"\b[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def lex(source):
    """The code of a file with comments and texts blanked, and where its texts and its comments are."""
    code, texts, comments, at = [], [], [], 0
    while found := TOKEN.search(source, at):
        code.append(source[at : found.start()])
        start, at = found.start(), found.end()
        if found["line"] is not None:
            comments.append((start, found["line"]))
        elif found["block"] is not None:
            depth = 1
            while depth:
                edge = BLOCK_EDGE.search(source, at)
                depth += 1 if edge[0] == "/*" else -1
                at = edge.end()
            comments.append((start, source[start:at]))
        elif found["raw"] is not None:
            at = source.index('"' + found["raw"], at) + 1 + len(found["raw"])
            texts.append((start, source[found.end() : at]))
        elif found["text"] is not None:
            at = TEXT_END.match(source, at).end()
            texts.append((start, source[found.end() : at - 1]))
        code.append(blank(source[start:at]))
    return "".join(code) + source[at:], texts, comments


def tests_of(code):
    """Where the items are that only tests compile."""
    at = 0
    while found := re.compile(r"#\[cfg\((all\()?test\b").search(code, at):
        at = ITEM_START.search(code, found.end()).end()
        depth = 1 if code[at - 1] == "{" else 0
        while depth:
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        yield found.start(), at


class File:
    """A file of a crate, as the module that it is, without its tests."""

    def __init__(self, root, path):
        self.path = path
        self.source = path.read_text()
        self.code, texts, comments = lex(self.source)
        self.tests = re.findall(r"cfg\(test\)\]\s*(?:pub\S*\s+)?mod (\w+);", self.code)
        spans = list(tests_of(self.code))
        for start, end in spans:
            self.code = self.code[:start] + blank(self.code[start:end]) + self.code[end:]
        shipped = [mark for mark in texts + comments if not any(start <= mark[0] < end for start, end in spans)]
        self.texts = [mark for mark in texts if mark in shipped]
        self.comments = [mark for mark in comments if mark in shipped]
        inner = path.relative_to(root).with_suffix("").parts
        self.module = inner[:-1] if inner[-1] in ("mod", "lib", "main") else inner

    def place(self, at):
        return f"{self.path.relative_to(CRATES.parent)}:{self.source.count(chr(10), 0, at) + 1}"


def files_of(crate):
    """The files of a crate by their modules, without those that only tests compile."""
    root = CRATES / crate / "src"
    files = {file.module: file for file in (File(root, path) for path in sorted(root.rglob("*.rs")))}
    tests = [file.module + (name,) for file in files.values() for name in file.tests]
    return {module: file for module, file in files.items() if not any(module[: len(t)] == t for t in tests)}


def branches(tree):
    """The paths of a `use` with the names that they get: `a::{b, c as d}` has two."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        parts = [part.strip() for part in path.split("::")]
        if parts[-1] == "self":
            parts.pop()
        yield parts, (alias.strip() or parts[-1])
        return
    depth, part = 0, ""
    for c in rest[: rest.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(c, 0)
        if c == "," and depth == 0:
            if part.strip():
                yield from branches(head + part.strip())
            part = ""
        else:
            part += c


class Crate:
    """The files of a crate and which of them use which."""

    def __init__(self, name):
        self.files = files_of(name)
        self.uses = {m: [u for tree in USE.findall(f.code) for u in branches(tree)] for m, f in self.files.items()}
        self.edges = {module: self._used_by(module) - {module} for module in self.files}

    def _used_by(self, module):
        code = USE.sub("", self.files[module].code)
        paths = [path for path, _ in self.uses[module]] + [path.split("::") for path in PATH.findall(code)]
        return {found for path in paths if (found := self._resolve(module, path)) is not None}

    def _resolve(self, module, path, depth=0):
        """The module whose file defines what a path names; `None` where that is another crate."""
        rest = list(path)
        if rest[0] == "crate":
            at, rest = (), rest[1:]
        elif rest[0] in ("self", "super") or module + (rest[0],) in self.files:
            at = module
        else:
            return None
        while rest and rest[0] in ("self", "super"):
            at = at[:-1] if rest[0] == "super" else at
            rest = rest[1:]
        while rest:
            if at + (rest[0],) in self.files:
                at, rest = at + (rest[0],), rest[1:]
                continue
            # Where a module only passes a name on, the file that defines it is used.
            passed = next((p for p, name in self.uses.get(at, ()) if name == rest[0] and p != path), None)
            if passed and depth < 8:
                return self._resolve(at, passed + rest[1:], depth + 1)
            break
        return at if at in self.files else None

    def circles(self):
        """Sets of files each of which uses all others by some way, but for a module with its submodules."""
        for circle in components(self.edges):
            root = min(circle, key=len)
            edges = {m: {n for n in self.edges[m] & circle if m[: len(n)] != n} for m in circle}
            is_family = all(m[: len(root)] == root for m in circle)
            for found in components(edges) if is_family else [circle]:
                yield sorted(str(self.files[m].path.relative_to(CRATES)) for m in found)


def components(edges):
    """The strongly connected components of a graph that have more than one node."""
    reach = {}
    for start in edges:
        seen, stack = set(), [start]
        while stack:
            for other in edges[stack.pop()] - seen:
                seen.add(other)
                stack.append(other)
        reach[start] = seen
    left = set(edges)
    while left:
        one = min(left)
        circle = {other for other in reach[one] if one in reach[other]} | {one}
        left -= circle
        if len(circle) > 1:
            yield circle


def names():
    return sorted(path.parent.name for path in CRATES.glob("*/src"))


def findings():
    for name in names():
        for circle in Crate(name).circles():
            yield f"crates/{name}: files use each other in a circle: {', '.join(circle)}"
        files = files_of(name).values()
        for file in files if name not in FACES else ():
            for at, text in file.texts:
                for found in FLAG.finditer(text):
                    yield f"{file.place(at)}: a library names the command line: {found[0]}"
        for file in files if name not in MODELS else ():
            marks = [(0, file.code), *file.texts, *file.comments]
            for at, found in ((at, found) for at, text in marks for found in WORDS.finditer(text)):
                yield f"{file.place(at + found.start())}: a generic crate has a word of a model: {found[0]}"


def main():
    if sys.argv[1:] == ["circles"]:
        for name in names():
            for circle in Crate(name).circles():
                print(f"{name}: {len(circle)}: {', '.join(circle)}")
        return 0
    if sys.argv[1:]:
        return __doc__
    found = list(findings())
    print("\n".join(f"error: {line}" for line in found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
