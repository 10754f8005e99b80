"""Compares the interface with the recorded one.

interface.py CC INCLUDE DIR            compares, with abidiff, what the headers in INCLUDE and in
                                          clients/c declare with interface.txt beside this file
interface.py CC INCLUDE DIR --write    writes interface.txt and the lists of exported names

interface.txt is the headers without comments, in plain C. Both it and the headers are compiled into
a library of empty functions with debug information, and abidiff compares the two: that shows a
changed field, type, enumerator or parameter, on any machine and without a debug build of the real
library. Macros and enums without a name are compared as text. DIR takes the two libraries.

lib/bloomery.map and clients/c/bloomery-cluster.map list what the libraries export, by release; the
linker reads them (cmake/symbol-versions.cmake), and structure.py --exports compares them with the
libraries. --write adds new names to the release that the headers are for. Before the first release
it also removes names; afterwards that would break programs.
"""

import difflib
import pathlib
import re
import subprocess
import sys

import symbol_map

HERE = pathlib.Path(__file__).resolve().parent
INTERFACE = HERE / "interface.txt"
ROOT = HERE.parents[1]

CLUSTER = ROOT / "clients/c"
HEADERS = ("bloomery.h", "bloomery_cluster.h", "bloomery_cluster_counters.h")
STANDARD = ("stdbool.h", "stddef.h", "stdint.h")
HIREDIS = "typedef struct redisReply redisReply;\n"
FUNCTION = re.compile(r"^(?! |typedef|static|struct|enum)[^{}\n]*?\b(\w+)\([^{}\n]*\);$", re.M)
HINT = """
The interface differs from what is written down. If that is intended, write it down with
    make interface
and tell users in CHANGELOG.md. Once there are releases: fields are added at the end of structs whose
size the library is told, functions and enumerators are added, and nothing else changes."""


def run(*command, **more):
    try:
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not installed (scripts/packages lists what the tests need)")


def preprocess(compiler, include, directory, *flags):
    """The preprocessed headers, without the language's own and those of hiredis."""
    empty = directory / "empty"
    (empty / "hiredis").mkdir(parents=True, exist_ok=True)
    for name in STANDARD:
        (empty / name).write_text("")
    (empty / "hiredis/hiredis.h").write_text(HIREDIS)
    done = run(compiler, "-E", "-P", "-nostdinc", "-I", empty, "-I", include, "-I", CLUSTER, *flags,
               "-x", "c", "-", input="".join(f"#include <{name}>\n" for name in HEADERS))
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.replace('__attribute__((visibility("default")))', "")


def is_inline(text, start):
    """True if the statement that begins here is a function with a body."""
    return re.compile(r"\s*static\b").match(text, start)


def statements(text):
    """Declarations, one string each, whitespace collapsed."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        ends = letter == "}" if is_inline(text, start) else letter == ";"
        if depth == 0 and ends:
            yield " ".join(text[start:at + 1].split())
            start = at + 1


def lay_out(statement):
    """A statement as lines: one field or enumerator per line."""
    head, brace, rest = statement.partition("{")
    if not brace:
        return [statement]
    body, _, tail = rest.rpartition("}")
    parts = re.split(r"(?<=;) " if ";" in body else r"(?<=,) ", body.strip())
    return [head.strip() + " {", *("    " + part for part in parts), "}" + tail]


def macros(compiler, include, directory):
    """Macros of the interface with their values, without include guards and build-dependent
    ones."""
    found = preprocess(compiler, include, directory, "-dM")
    lines = [" ".join(line.split()) for line in found.splitlines()]
    return sorted(line for line in lines if re.match(r"#define BRYC?_(?!API|VERSION_RELEASE)", line))


def describe(compiler, include, directory):
    lines = [f"#include <{name}>" for name in STANDARD]
    lines += ["", *macros(compiler, include, directory), ""]
    for statement in statements(preprocess(compiler, include, directory)):
        lines += lay_out(statement)
    return "\n".join(lines) + "\n"


def functions(description, prefix):
    names = [match.group(1) for match in FUNCTION.finditer(description)]
    return [name for name in names if name.startswith(prefix)]


def compile_stubs(compiler, description, library):
    source = FUNCTION.sub(lambda match: match.group()[:-1] + " { __builtin_trap(); }", description)
    done = run(compiler, "-g", "-w", "-shared", "-fPIC", "-x", "c", "-", "-o", library, input=source)
    if done.returncode:
        sys.exit(done.stderr)


def constants(description):
    """Macros and the enumerators of enums without a name, which abidiff does not see."""
    lines = [line for line in description.splitlines() if line.startswith("#define")]
    for body in re.findall(r"^enum \{\n(.*?)^\}", description, flags=re.M | re.S):
        lines += body.splitlines()
    return lines


def compare(compiler, directory, written, now):
    old, new = directory / "interface-written.so", directory / "interface-now.so"
    compile_stubs(compiler, written, old)
    compile_stubs(compiler, now, new)
    done = run("abidiff", "--no-corpus-path", "--harmless", "--no-show-locs", old, new)
    findings = done.stdout + done.stderr if done.returncode else ""
    return findings + "\n".join(difflib.unified_diff(constants(written), constants(now), "written",
                                                     "now", lineterm=""))


def main(arguments):
    if len(arguments) not in (3, 4) or arguments[3:] not in ([], ["--write"]):
        sys.exit(__doc__)
    compiler, include, directory = arguments[0], arguments[1], pathlib.Path(arguments[2])
    now = describe(compiler, include, directory)
    if arguments[3:]:
        INTERFACE.write_text(now)
        release = symbol_map.release(pathlib.Path(include) / "bloomery" / "base.h")
        symbol_map.update(ROOT / "lib/bloomery.map", "BLOOMERY", release, functions(now, "bry_"))
        symbol_map.update(CLUSTER / "bloomery-cluster.map", "BLOOMERY_CLUSTER", release,
                          functions(now, "bryc_"))
        return 0
    findings = compare(compiler, directory, INTERFACE.read_text(), now)
    if findings:
        print(findings.strip() + "\n" + HINT)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
