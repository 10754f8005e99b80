"""Checks what the compiler does not: includes, names, sizes, comments, exported names.

structure.py ROOT                         the source tree
structure.py ROOT --exports LIB MAP HEADER…  LIB exports exactly what these headers declare, with the
                                          versions that MAP lists
structure.py ROOT --apart PROGRAM LIB…    PROGRAM contains no function of these static libraries
structure.py ROOT --called BUILD MAP…     each function that MAP lists is called by what is built in
                                          BUILD from the directories of CALLERS
structure.py ROOT --needs PROGRAM LIB…    PROGRAM is linked with no other shared libraries

Prints one line per finding and exits with 1 when there is any.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

import symbol_map

# Every function of the libraries has a user here, so that no call exists for its tests alone. The
# client for clusters does not count as a user of its own functions.
CALLERS = ("cli", "module", "apps", "clients", "bench", "examples")
OWN_OBJECTS = "bloomery_cluster_objects.dir"

# A directory of lib/ includes itself and directories of a lower rank, so those of one rank never include
# one another.
RANKS = {
    "common": 1,
    "hash": 2,
    "kernel": 3, "frame": 3,
    "maplet": 4, "bloom": 4,
    "map": 5, "window": 5, "index": 5, "filter": 5,
    "counter": 6,
    "job": 7,
}
# Internals of the maplet.
INSIDE_MAPLET = {"maplet/table.h", "maplet/segment.h", "maplet/overflow.h",
                 "maplet/table_arena.h"}
# These may include the public headers, their own files, and what is listed here; only those with
# "lib/" may look inside the library.
SURFACES = {
    "cli": ("apps/balance/", "text/"),
    "module": ("text/",),
    "apps": ("cli/core/", "text/"),
    "clients": (),
    "examples": (),
    "text": (),
    "papers": ("lib/",),
    "bench": ("apps/", "cli/core/", "papers/", "text/", "lib/"),
}
# Surface → its directories → its other directories that each may include. Files beside the directories, such as
# the one with main(), may include all of them, and no directory may include these files.
SURFACE_DIRECTORIES = {
    "cli": {
        "core": (),
        "map": ("core",), "seen": ("core",), "count": ("core",), "index": ("core",),
        "serve": ("core",),
        "cluster": ("core", "serve"),  # its nodes are servers
        "demo": ("core", "serve", "cluster"),
    },
    "apps": {"balance": (), "dedup": (), "flows": ()},
    "bench": {
        "harness": (),
        "peers": ("harness",),
        "cases": ("harness", "peers"),
        "figures": ("harness", "peers", "cases"),
        "tables": (),  # in Python
    },
    "module": {
        "core": (),
        "map": ("core",), "window": ("core",), "counter": ("core",), "index": ("core",),
        "bf": ("core",),
        "once": ("core", "window"),  # a guard is a window
    },
}

CODE = {".c", ".h", ".cpp", ".py", ".sh", ".cmake"}
MAX_LINES = 700
MAX_FILES = 40  # in a directory
MAX_FUNCTION = 70  # lines, from the name to the closing brace
# Where the length of functions is limited and no two have the same body, and where the name of a static
# function is one that a search finds.
FUNCTIONS = ("lib", "cli", "module", "apps", "clients", "text", "papers", "bench", "tests")
NAMED = ("cli", "module", "apps", "clients", "text", "papers", "bench")
# Conventional names, and directories of data, whose names are not checked.
COMMON_NAMES = {"CMakeLists.txt", "README.md", "Makefile", ".clang-tidy", ".gitignore",
                "expected.csv", "package.json"}
DATA_DIRECTORIES = ("tests/fuzz/corpus", "tests/golden")

# A body with as many lines, or as many characters without spaces, must not be in two files.
TWIN_LINES = 4
TWIN_CHARACTERS = 80

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
NATIVE = "march=" + "native"


def files_of(root):
    """All files of the project, as paths relative to root; without build directories."""
    found = []
    for directory, directories, names in os.walk(root):
        directories[:] = [name for name in directories if name not in (".git", "__pycache__")
                          and not (pathlib.Path(directory) / name / "CMakeCache.txt").exists()]
        found += [(pathlib.Path(directory) / name).relative_to(root) for name in names]
    return sorted(found)


def is_code(path):
    return path.suffix in CODE or path.name in ("CMakeLists.txt", "Makefile") or \
        path.parts[0] in ("scripts", ".ci")


def is_data(path):
    return any(path.is_relative_to(directory) for directory in DATA_DIRECTORIES)


def check_lib_include(path, kind, target, root):
    directory = path.parts[1]
    if directory not in RANKS:
        return f"lib/{directory} has no place in the hierarchy"
    if kind == "<":
        return None
    other = target.split("/")[0]
    if "/" not in target or not (root / "lib" / target).is_file():
        return f'"{target}" is not written from lib/'
    if other != directory and RANKS.get(other, 99) >= RANKS[directory]:
        return f"lib/{directory} must not include lib/{other} ({target})"
    # Only an engine itself may include its internals, not its job or another engine.
    engine = target.split("/")[:-1]
    if len(engine) > 1 and list(path.parts[1:-1]) != engine:
        return f"{target} is for lib/{'/'.join(engine)} alone"
    if target in INSIDE_MAPLET and directory != "maplet":
        return f"{target} is for lib/maplet alone"
    return None


def check_surface_include(path, target, root):
    top = path.parts[0]
    directories = SURFACE_DIRECTORIES.get(top)
    if ".." in target:
        return f'"{target}" leaves its directory'
    if directories and len(path.parts) > 2 and target.startswith(top + "/"):
        directory, other = path.parts[1], target.split("/")[1]
        if other != directory and other not in directories.get(directory, ()):
            return f"{top}/{directory} must not include {target}"
    if target.startswith((top + "/", *SURFACES[top])) and (root / target).is_file():
        return None
    if "lib/" in SURFACES[top] and (root / "lib" / target).is_file():
        return None
    if ((root / path).parent / target).is_file():
        return None if top == "examples" else f'"{target}" is not written from the root'
    return f'"{target}" is not public, nor of {top}/ or what it may include'


def check_include(path, kind, target, root):
    """What is wrong with this include, or None."""
    top = path.parts[0]
    if target.startswith("bloomery/"):
        if kind != "<":
            return f'"{target}": public headers are included with <>'
        if not (root / "include" / target).is_file():
            return f"there is no <{target}>"
        return "text/ does not know the library" if top == "text" else None
    if top == "include":
        if kind == '"' or not re.fullmatch(r"std[a-z]+\.h", target):
            return f"public headers include the language's and one another, not {target}"
    elif top == "lib" and len(path.parts) > 2:
        return check_lib_include(path, kind, target, root)
    elif top in SURFACES and kind == '"':
        return check_surface_include(path, target, root)
    return None


def check_includes(root, files):
    for path in files:
        if path.suffix not in (".c", ".h", ".cpp"):
            continue
        for kind, target in INCLUDE.findall((root / path).read_text()):
            problem = check_include(path, kind, target, root)
            if problem:
                yield f"{path}: {problem}"


def check_directories(files):
    """Every directory of a surface must be in SURFACE_DIRECTORIES."""
    unknown = {path.parts[:2] for path in files if path.parts[0] in SURFACE_DIRECTORIES
               and len(path.parts) > 2 and path.parts[1] not in SURFACE_DIRECTORIES[path.parts[0]]}
    for top, directory in sorted(unknown):
        yield f"{top}/{directory} has no place in the hierarchy"


def check_names(files):
    seen = {}
    for path in files:
        if path.name in COMMON_NAMES or is_data(path):
            continue
        if path.name in seen:
            yield f"{path}: {seen[path.name]} has the same name"
        seen.setdefault(path.name, path)


def check_text(root, files):
    for path in files:
        if not is_code(path) or is_data(path):
            continue
        text = (root / path).read_text()
        lines = text.count("\n")
        if lines > MAX_LINES:
            yield f"{path}: {lines} lines, more than {MAX_LINES}"
        if NATIVE in text:
            yield f"{path}: built for one machine ({NATIVE})"


def check_directory_sizes(files):
    """A directory must not have too many files."""
    counts = collections.Counter(path.parent for path in files if not is_data(path))
    for directory, count in sorted(counts.items()):
        if count > MAX_FILES:
            yield f"{directory}: {count} files, more than {MAX_FILES}"


def functions(text):
    """(line, name, lines, is static, body) of each function that is defined, laid out by clang-format."""
    lines = text.split("\n")
    start = None
    for at, line in enumerate(lines):
        if line == "{":
            start = at
        elif line == "}" and start is not None:
            first = start
            while first > 0 and re.match(r"[\w ]", lines[first - 1]) and \
                    not lines[first - 1].endswith((";", "*/", "}")):
                first -= 1
            name = re.search(r"(\w+)\(", " ".join(lines[first:start]))
            if name:
                yield (first + 1, name.group(1), at - first + 1,
                       lines[first].startswith("static") and "inline" not in lines[first],
                       lines[start + 1:at])
            start = None


def check_functions(root, files):
    seen = {}
    for path in files:
        if path.parts[0] not in FUNCTIONS or path.suffix not in (".c", ".h"):
            continue
        for line, name, length, static, body in functions((root / path).read_text()):
            if length > MAX_FUNCTION:
                yield f"{path}:{line}: {name} has {length} lines, more than {MAX_FUNCTION}"
            if static and path.parts[0] in NAMED and re.fullmatch(r"[a-z]{1,6}", name):
                yield f"{path}:{line}: {name} says too little to be searched for"
            twin = seen.setdefault(twin_key(path, body), (path, name))
            if twin[0] != path:
                yield f"{path}:{line}: {name} has the body of {twin[1]} in {twin[0]}"


def twin_key(path, body):
    """Equal for functions of which only one should be there. An example must be complete, and
    clients/ shares only public headers with the others."""
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(body), flags=re.S)
    code = "".join(body.split())
    small = len(code) < TWIN_CHARACTERS and sum(map(bool, map(str.strip, body.split("\n")))) < TWIN_LINES
    if small or path.stem.endswith("_example"):
        return path, code
    return path.parts[0] == "clients", code


def blank(match):
    """As many blanks and ends of lines."""
    return re.sub(r"[^\n]", " ", match.group())


def declarations(text):
    """(line, name, has BRY_API) of each function that a header declares."""
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    text = re.sub(r'extern\s+"C"\s*\{', blank, text)
    # The body of an inline function ends its statement.
    text = re.sub(r"\)\s*\{[^{}]*\}", lambda body: ");" + blank(body)[1:], text)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", blank, text)
    for match in re.finditer(r"[^;]+;", text):
        statement = match.group().strip().lstrip("}").strip()
        if re.match(r"typedef\b|static\b", statement):
            continue
        name = re.search(r"\b(\w+)\s*\(", statement)
        if name:
            start = match.start() + match.group().index(statement)
            yield text.count("\n", 0, start) + 1, name.group(1), statement.startswith("BRY_API")


def fields(text):
    """(line, field, whether it has a comment) of each struct that a header defines. The comment is
    after the field or before it."""
    for body in re.finditer(r"typedef struct \w+ \{(.*?)^\}", text, flags=re.S | re.M):
        for match in re.finditer(r"((?:/\*.*?\*/|[^;/])*);([ \t]*/\*.*?\*/)?", body.group(1),
                                 flags=re.S):
            code = re.sub(r"/\*.*?\*/", "", match.group(1), flags=re.S).strip()
            line = text.count("\n", 0, body.start(1) + match.end(1)) + 1
            yield line, " ".join(code.split()), bool(match.group(2)) or "/*" in match.group(1)


def is_public(path):
    """A header that is installed."""
    return path.parts[0] == "include" or path.name.startswith("bloomery_cluster")


def check_fields(root, files):
    """Each field of a public struct has a comment, except struct_size, which base.h explains."""
    for path in files:
        if is_public(path):
            for line, field, told in fields((root / path).read_text()):
                if not told and field != "size_t struct_size":
                    yield f"{path}:{line}: {field} has no comment"


def check_headers(root, files):
    """Each public function is marked BRY_API and is in a paragraph that begins with a comment."""
    for path in files:
        if not is_public(path):
            continue
        text = (root / path).read_text()
        lines = text.split("\n")
        for number, name, marked in declarations(text):
            if not marked:
                yield f"{path}:{number}: {name} lacks BRY_API"
            first = number - 1
            while first > 0 and lines[first - 1].strip():
                first -= 1
            # base.h explains destroy for all jobs.
            if not re.match(r"\s*(/\*|\*)", lines[first]) and not name.endswith("_destroy"):
                yield f"{path}:{number}: {name} has no comment"


def check_tree(root):
    files = files_of(root)
    yield from check_includes(root, files)
    yield from check_directories(files)
    yield from check_names(files)
    yield from check_text(root, files)
    yield from check_directory_sizes(files)
    yield from check_functions(root, files)
    yield from check_headers(root, files)
    yield from check_fields(root, files)


def check_exports(library, versions, headers):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    exported = dict(re.findall(r" [TDBR] (\w+)@@\w+_([0-9.]+)$", listing, re.M))
    unversioned = set(re.findall(r" [TDBR] (\w+)$", listing, re.M))
    listed = {name: release for release, names in versions.items() for name in names}
    declared = {name for header in headers
                for _, name, _ in declarations(pathlib.Path(header).read_text())}
    for name in sorted(declared - exported.keys()):
        yield f"{name} is declared in an installed header, but {library} does not have it"
    for name in sorted(exported.keys() - declared):
        yield f"{library} exports {name}, which no installed header declares"
    for name in sorted(unversioned):
        yield f"{library} exports {name} without a version"
    for name in sorted(exported.keys() & declared):
        if exported[name] != listed.get(name):
            yield f"{name} has version {exported[name]}; the map says {listed.get(name)}"
    for name in sorted(listed.keys() - declared):
        yield f"{name} is gone, but the map lists it (`make interface` rewrites it)"


def defined_in(*command):
    listing = subprocess.run(["nm", "--defined-only", *command], check=True, capture_output=True,
                             text=True).stdout
    return {line.split()[2] for line in listing.splitlines() if len(line.split()) == 3}


def check_apart(program, libraries):
    for library in libraries:
        for name in sorted(defined_in(program) & defined_in("-g", library)):
            yield f"{program} contains {name} of {library}"


def check_needs(program, libraries):
    """ld-linux holds what the language needs of the dynamic linker."""
    listing = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True,
                             env={**os.environ, "LC_ALL": "C"}).stdout
    needed = re.findall(r"\(NEEDED\).*\[(\S+?)\.so\b.*\]", listing)
    if "libc" not in needed:
        yield f"{program}: readelf does not say what it needs"
    for name in sorted({*needed} - {*libraries}):
        if not name.startswith("ld-linux"):
            yield f"{program} is linked with {name}"


def objects(root, build):
    """Object files of CALLERS whose source still exists."""
    for top in CALLERS:
        for path in (build / top).rglob("*.o"):
            parts = path.relative_to(build).parts
            at = parts.index("CMakeFiles")
            source = root.joinpath(*parts[:at], *parts[at + 2:])
            if source.with_suffix("").exists() or "__" in parts:
                yield path


def check_called(names, calls):
    """bry_job_save() calls the save of every job: who calls it calls all of them."""
    def verb_of(name):
        return re.sub(r"^bry_(filter|map|window|counters|index|job)_", "", name)

    used = {verb_of(name) for name in names & calls if name.startswith("bry_job_")}
    for name in sorted(names - calls):
        if verb_of(name) not in used:
            yield f"{name} is called by nothing in {', '.join(CALLERS)}"


def check_libraries_called(root, build, maps):
    paths = list(objects(root, build))
    for path in maps:
        names = {name for listed in symbol_map.read(path).values() for name in listed}
        users = [one for one in paths if path.parent.name == "lib" or OWN_OBJECTS not in one.parts]
        listing = subprocess.run(["nm", "--undefined-only", *users], check=True,
                                 capture_output=True, text=True).stdout
        yield from check_called(names, set(re.findall(r" U (\w+)", listing)))


def main(arguments):
    if len(arguments) >= 4 and arguments[1] == "--apart":
        findings = list(check_apart(arguments[2], arguments[3:]))
    elif len(arguments) >= 4 and arguments[1] == "--needs":
        findings = list(check_needs(arguments[2], arguments[3:]))
    elif len(arguments) >= 4 and arguments[1] == "--exports":
        versions = symbol_map.read(pathlib.Path(arguments[3]))
        findings = list(check_exports(arguments[2], versions, arguments[4:]))
    elif len(arguments) >= 4 and arguments[1] == "--called":
        findings = list(check_libraries_called(pathlib.Path(arguments[0]), pathlib.Path(arguments[2]),
                                               [pathlib.Path(path) for path in arguments[3:]]))
    elif len(arguments) == 1:
        findings = list(check_tree(pathlib.Path(arguments[0]).resolve()))
    else:
        sys.exit(__doc__)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
