"""Version scripts of the linker: the names that a shared library exports, by release.

BLOOMERY_0.1 {
    global:
        bry_engine_name;
    local:
        *;
};
"""

import re

NODE = re.compile(r"^(\w+)_([0-9.]+) \{(.*?)^\}", re.M | re.S)
HEAD = """/* The names that the library exports, by the release that added them. `make interface` writes
 * this file. */
"""


def read(path):
    """Release → its names."""
    text = path.read_text() if path.exists() else ""
    return {node.group(2): re.findall(r"^ +(\w+);$", node.group(3), re.M)
            for node in NODE.finditer(text)}


def release(header):
    """The release that a header is for: "0.1"."""
    found = dict(re.findall(r"^#define BRY_VERSION_(MAJOR|MINOR) (\d+)$", header.read_text(), re.M))
    return f"{found['MAJOR']}.{found['MINOR']}"


def update(path, word, current, names):
    """Writes the names: known ones stay in their release, and new ones are added to `current`."""
    old = read(path)
    known = {name for some in old.values() for name in some}
    nodes = {name: [symbol for symbol in some if symbol in names] for name, some in old.items()}
    nodes.setdefault(current, []).extend(set(names) - known)
    text, before = HEAD, ""
    for number in sorted(nodes, key=lambda each: [int(part) for part in each.split(".")]):
        text += f"{word}_{number} {{\n    global:\n"
        text += "".join(f"        {name};\n" for name in sorted(nodes[number]))
        text += ("" if before else "    local:\n        *;\n") + f"}}{before};\n"
        before = f" {word}_{number}"
    path.write_text(text)
