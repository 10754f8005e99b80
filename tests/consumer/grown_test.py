"""A program keeps working when structs of the interface get further fields.

grown_test.py BUILD SOURCE WORK CFLAG...

Builds a later version of the library in WORK: the headers with one more field at the end of each
struct that may grow, and the same sources. The test of callers with other structs
(tests/unit/common/test_old_callers.c), compiled with today's headers, then runs with that library.
CFLAG...: how to compile and link cmocka.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

FIELD = "    uint64_t added_later[2];\n"


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")


def growing(headers):
    """The names of the structs whose size the library is told."""
    names = set()
    for text in headers.values():
        names |= set(re.findall(r"typedef struct (\w+) \{\n    size_t struct_size;", text))
        for declaration in re.findall(r"\w+_sized\(([^;{]*)\);", text):
            names |= {name for name in re.findall(r"(\w+) \*\w+", declaration)
                      if re.search(rf"^\}} {name};$", "".join(headers.values()), re.M)}
    return names


def grow(include, copy):
    headers = {path.relative_to(include): path.read_text() for path in include.rglob("*.h")}
    names = growing(headers)
    for path, text in headers.items():
        for name in names:
            text = re.sub(rf"^\}} {name};$", f"{FIELD}}} {name};", text, flags=re.M)
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text)
    return names


def compile_one(entry, include, copy, to):
    """Compiles a source of the library as its build does, but with the other headers."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    for option in ("-o", "-MT", "-MF"):
        if option in words:
            del words[words.index(option):words.index(option) + 2]
    words = [word.replace(str(include), str(copy)) for word in words
             if word not in ("-MD", "-O3", "-O2", "-Werror")]
    run([os.environ.get("CC", "cc"), *words, "-w", "-O0", "-o", to], cwd=entry["directory"])
    return to


def main(build, source, work, flags):
    include, copy = source / "include", work / "include"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    names = grow(include, copy)
    if len(names) < 20 or not {"bry_map_stats", "bry_load", "bry_counters_op"} <= names:
        sys.exit(f"structs that may grow: found only {sorted(names)}")

    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if "bloomery_objects.dir" in entry["command"]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda pair: compile_one(pair[1], include, copy,
                                                         work / f"{pair[0]}.o"),
                                enumerate(entries)))
    cc = os.environ.get("CC", "cc")
    library = work / "libbloomery.so.1"
    run([cc, "-shared", "-Wl,-soname,libbloomery.so.1", "-o", library, *objects, "-lxxhash", "-lm"])

    tests = source / "tests"
    program = work / "old_program"
    run([cc, "-std=c11", "-D_GNU_SOURCE", "-O1", "-I", include, "-I", tests, "-I", source / "lib",
         tests / "unit/common/test_old_callers.c", tests / "support/job_calls.c",
         tests / "support/run_all_tests.c", "-o", program, library, *flags, f"-Wl,-rpath,{work}"])
    run([program])
    print(f"{len(names)} structs grew, and the program works")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:4]), sys.argv[4:])
