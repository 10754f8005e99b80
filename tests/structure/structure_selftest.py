"""structure.py must find faults: tests trees with one fault each, and one with none."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import structure  # noqa: E402
import symbol_map  # noqa: E402

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

GOOD = {
    "include/bloomery/base.h":
        "/* About. */\n#include <stddef.h>\n\n/* Text. */\nBRY_API int bry_a(void);\n"
        "BRY_API int bry_b(void (*call)(int));\n\n"
        "/* A struct. */\ntypedef struct bry_s {\n    size_t struct_size;\n"
        "    int (*f)(int); /* behind; */\n    /* before */\n    int g;\n} bry_s;\n"
        "#define BRY_S \\\n    { \\\n        f() \\\n    }\n"
        "BRY_API void bry_s_use(bry_s *s);\n\nBRY_API void bry_s_destroy(bry_s *s);\n",
    "lib/common/size.h": "#include <bloomery/base.h>\n",
    "lib/hash/hash.c": '#include "common/size.h"\n#include <xxhash.h>\n',
    "lib/kernel/kernel.h": "\n",
    "lib/bloom/bloom.c": '#include "kernel/kernel.h"\n#include "bloom/bloom.h"\n',
    "lib/bloom/bloom.h": "\n",
    "lib/filter/filter.h": "\n",
    "lib/map/map.h": "\n",
    "cli/main.c": '#include "cli/seen/seen.h"\n#include <bloomery/base.h>\n',
    "cli/core/output/output.h": '#include "text/numbers.h"\n',
    "cli/seen/seen.h": '#include "cli/core/output/output.h"\n',
    "cli/CMakeLists.txt": "\n",
    "text/numbers.h": "#include <stdint.h>\n",
    "papers/paper.h": '#include "kernel/kernel.h"\n',
    "bench/harness/measure.h": '#include "cli/core/output/output.h"\n#include "kernel/kernel.h"\n',
    "bench/cases/case.c": '#include "bench/harness/measure.h"\n#include "papers/paper.h"\n',
    "module/module.c": '#include "module/map/map_type.h"\n',
    "module/core/object.h": "\n",
    "module/map/map_type.h": '#include "module/core/object.h"\n',
    "module/window/window_type.h": "\n",
    "module/once/once_run.c": '#include "module/window/window_type.h"\n',
    "lib/CMakeLists.txt": "\n",
    "out/CMakeCache.txt": "\n",
    "out/main.c": '#include "bloom/bloom.h"\n',
    "tests/unit/test_bloom.c": '#include "bloom/bloom.h"\n',
}


def findings(changes):
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
        root = pathlib.Path(directory)
        for name, text in {**GOOD, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return list(structure.check_tree(root))


class Tree(unittest.TestCase):
    def one(self, changes, *words):
        found = findings(changes)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_good(self):
        self.assertEqual(findings({}), [])

    def test_includes(self):
        kbf = {"lib/map/kbf/kbf.h": "", "lib/map/kbf/kbf.c": '#include "map/kbf/kbf.h"\n'}
        self.assertEqual(findings(kbf), [])
        for path, included, finding, more in (
                ("lib/hash/up.c", '"bloom/bloom.h"', "lib/hash must not include", {}),
                ("lib/map/map.c", '"filter/filter.h"', "lib/map must not include", {}),
                ("lib/map/map.c", '"maplet/table.h"', "maplet/table.h is for lib/maplet alone",
                 {"lib/maplet/table.h": ""}),
                ("lib/map/map.c", '"map/kbf/kbf.h"', "for lib/map/kbf alone", kbf),
                ("lib/map/compact/other.c", '"map/kbf/kbf.h"', "for lib/map/kbf alone", kbf),
                ("lib/odd/odd.c", "<stdio.h>", "lib/odd has no place", {}),
                ("lib/bloom/near.c", '"bloom.h"', "not written from lib/", {}),
                ("cli/peek.c", '"bloom/bloom.h"', "is not public, nor of cli/", {}),
                ("cli/peek.c", '"../lib/bloom/bloom.h"', "leaves its directory", {}),
                ("cli/seen/near.c", '"seen.h"', "not written from the root", {}),
                ("cli/peek.c", '"papers/paper.h"', "is not public, nor of cli/", {}),
                ("cli/peek.c", '"bench/harness/measure.h"', "is not public, nor of cli/", {}),
                ("bench/peek.c", '"cli/seen/seen.h"', "is not public, nor of bench/", {}),
                ("bench/harness/peek.c", '"bench/cases/cases.h"',
                 "bench/harness must not include bench/cases/cases.h", {"bench/cases/cases.h": ""}),
                ("papers/peek.c", '"bench/harness/measure.h"', "nor of papers/", {}),
                ("text/peek.c", '"kernel/kernel.h"', "is not public, nor of text/", {}),
                ("text/peek.c", "<bloomery/base.h>", "does not know the library", {}),
                ("module/core/object.c", '"module/map/map_type.h"',
                 "module/core must not include module/map/map_type.h", {}),
                ("module/map/map.c", '"module/window/window_type.h"',
                 "module/map must not include module/window/window_type.h", {}),
                ("module/map/map.c", '"module/module.h"', "module/map must not include module/module.h",
                 {"module/module.h": ""}),
                ("include/bloomery/x.h", "<xxhash.h>", "xxhash.h", {}),
                ("cli/lost.c", "<bloomery/lost.h>", "there is no <bloomery/lost.h>", {}),
                ("cli/quoted.c", '"bloomery/base.h"', "with <>", {})):
            with self.subTest(path=path, included=included):
                self.one({**more, path: f"#include {included}\n"}, finding)
        self.one({"lib/hash/up.c": '#  include "bloom/bloom.h"\n'}, "lib/hash must not include")
        self.one({"module/odd/odd.c": ""}, "module/odd has no place")

    def test_twins(self):
        def function(name, lines, indent="    "):
            body = "".join(f"{indent}a{i}();  /* {name} */\n" for i in range(lines))
            return f"static int {name}(void)\n{{\n{body}}}\n"
        pair = {"cli/a.c": function("take_option", 4), "tests/b.h": function("read_option", 4, "\t")}
        self.one(pair, "tests/b.h:1: read_option has the body of take_option in cli/a.c")
        long = "int {}(void)\n{{\n    call(" + "a" * 73 + ");\n}}\n"
        self.one({"lib/map/a.c": long.format("bry__a"), "module/b.c": long.format("b_call")},
                 "module/b.c:1: b_call has the body of bry__a in lib/map/a.c")
        for fine in ({"cli/a.c": function("take_option", 3), "cli/b.c": function("take_option", 3)},
                     {"cli/a.c": function("take_option", 4) + function("take_word", 4)},
                     {"cli/a.c": function("take_option", 4), "cli/b.c": function("take_option", 5)},
                     {"cli/a.c": function("take_option", 4), "clients/c/a_client.c": pair["tests/b.h"]},
                     {"clients/c/a_example.c": pair["cli/a.c"], "clients/c/b.c": pair["tests/b.h"]}):
            self.assertEqual(findings(fine), [])
        self.one({"clients/c/a.c": pair["cli/a.c"], "clients/c/b.c": pair["tests/b.h"]},
                 "clients/c/b.c:1: read_option has the body")

    def test_same_name(self):
        self.one({"lib/map/bloom.c": "\n"}, "lib/map/bloom.c", "lib/bloom/bloom.c")

    def test_long_file(self):
        self.one({"lib/map/long.c": "\n" * (structure.MAX_LINES + 1)}, "long.c", "lines")

    def test_full_directory(self):
        self.one({f"lib/map/file{i}.c": "" for i in range(structure.MAX_FILES)},
                 "lib/map: 41 files")
        self.assertEqual(findings({f"tests/golden/{i}.c": "" for i in range(100)}), [])

    def test_long_function(self):
        def function(lines):
            return "int bry_long(int a,\n             int b)\n{\n" + "    a;\n" * lines + "}\n"
        self.assertEqual(findings({"lib/map/long.c": function(structure.MAX_FUNCTION - 4)}), [])
        self.one({"lib/map/long.c": function(structure.MAX_FUNCTION - 3)},
                 "long.c:1: bry_long has 71 lines")

    def test_function_names(self):
        body = "static int {}(int a)\n{{\n    return a;\n}}\n"
        self.one({"cli/a.c": body.format("add")}, "cli/a.c:1: add says too little")
        self.assertEqual(findings({"cli/a.c": body.format("take_option"),
                                   "bench/b.c": body.format("take_option")}), [])

    def test_native(self):
        self.one({"lib/CMakeLists.txt": f"add_compile_options(-{structure.NATIVE})\n"},
                 "one machine")

    def test_public_headers(self):
        for text, *words in (
                ("/* x */\n\nBRY_API int bry_x(\n    int a);\n", "x.h:3", "bry_x has no comment"),
                ("/* y */\nBRY_API int bry_y(void);\n\nBRY_API int bry_x(void);\n",
                 "bry_x has no comment"),
                ('#ifdef __cplusplus\nextern "C" {\n#endif\n\n/* x */\nint bry_x(void);\n',
                 "bry_x lacks BRY_API")):
            self.one({"include/bloomery/x.h": text}, *words)
        base = GOOD["include/bloomery/base.h"].replace("    int (*f)(int); /* behind; */", "    int f;")
        self.one({"include/bloomery/base.h": base}, "base.h:11", "int f has no comment")


class Exports(unittest.TestCase):
    def test_exports(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
            root = pathlib.Path(directory)
            header = root / "x.h"
            header.write_text("/* both */\nBRY_API int bry_a(void);\nBRY_API int bry_b(int x);\n")
            source = root / "x.c"
            library = root / "libx.so"

            versions = root / "x.map"

            def found(code, listed=("bry_a", "bry_b"), linked=None):
                source.write_text(code)
                versions.unlink(missing_ok=True)
                symbol_map.update(versions, "X", "0.1", linked or listed)
                subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,--version-script={versions}", "-o",
                                library, source], check=True)
                return list(structure.check_exports(str(library), {"0.1": listed}, [str(header)]))

            both = "int bry_a(void) { return 1; }\nint bry_b(int x) { return x; }\n"
            self.assertEqual(found(both), [])
            for problems, text in (
                    (found("int bry_a(void) { return 1; }\n"), "bry_b is declared"),
                    (found(both + "int bry__inner(void) { return 2; }\n",
                           linked=["bry_a", "bry_b", "bry__inner"]), "exports bry__inner"),
                    (found(both, ["bry_a"], ["bry_a", "bry_b"]),
                     "bry_b has version 0.1; the map says None"),
                    (found(both, ["bry_a", "bry_b", "bry_c"]), "bry_c is gone")):
                self.assertEqual(len(problems), 1, problems)
                self.assertIn(text, problems[0])

    def test_releases_stay(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
            versions = pathlib.Path(directory) / "x.map"
            symbol_map.update(versions, "X", "0.1", ["bry_b", "bry_a"])
            symbol_map.update(versions, "X", "0.2", ["bry_a", "bry_b", "bry_c"])
            self.assertEqual(symbol_map.read(versions),
                             {"0.1": ["bry_a", "bry_b"], "0.2": ["bry_c"]})
            self.assertIn("} X_0.1;", versions.read_text())


class Called(unittest.TestCase):
    def test_called(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
            root = pathlib.Path(directory)
            versions = root / "lib/x.map"

            def found(names, code, name="main"):
                source = root / f"cli/{name}.c"
                built = root / f"build/cli/CMakeFiles/x.dir/{name}.c.o"
                for path in (source, built, versions):
                    path.parent.mkdir(parents=True, exist_ok=True)
                source.write_text(code)
                subprocess.run(["cc", "-w", "-c", "-o", built, source], check=True)
                versions.unlink(missing_ok=True)
                symbol_map.update(versions, "X", "0.1", names)
                return [line.split()[0] for line in
                        structure.check_libraries_called(root, root / "build", [versions])]

            self.assertEqual(found(["bry_a"], "void f(void) { bry_a(); }"), [])
            self.assertEqual(found(["bry_a", "bry_b"], "void f(void) { bry_a(); }"), ["bry_b"])
            # The call for all jobs counts for each of them; the call for one counts for that one.
            verbs = ["bry_job_save", "bry_map_save", "bry_index_save", "bry_map_get", "bry_index_get"]
            self.assertEqual(found(verbs, "void f(void) { bry_job_save(); bry_map_get(); }"),
                             ["bry_index_get"])
            self.assertEqual(found(verbs[:3], "void f(void) { bry_map_save(); }"),
                             ["bry_index_save", "bry_job_save"])
            self.assertEqual(found(verbs[:3], ""), sorted(verbs[:3]))
            # An object whose source is gone calls nothing.
            self.assertEqual(found(["bry_a"], "void f(void) { bry_a(); }", "old"), [])
            (root / "cli/old.c").unlink()
            self.assertEqual(found(["bry_a"], ""), ["bry_a"])


class Apart(unittest.TestCase):
    def test_apart(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
            root = pathlib.Path(directory)

            def build(code, *command):
                source = root / "x.c"
                source.write_text(code)
                subprocess.run([*command, source], check=True)
            build("int of_papers(void) { return 1; }\n", "cc", "-c", "-o", root / "papers.o")
            subprocess.run(["ar", "rc", root / "papers.a", root / "papers.o"], check=True)
            build("int main(void) { return 0; }\n", "cc", "-o", root / "without")
            build("int of_papers(void);\nint main(void) { return of_papers(); }\n", "cc", "-o",
                  root / "with", root / "papers.o")
            libraries = [str(root / "papers.a")]
            self.assertEqual(list(structure.check_apart(str(root / "without"), libraries)), [])
            found = list(structure.check_apart(str(root / "with"), libraries))
            self.assertEqual(len(found), 1, found)
            self.assertIn("contains of_papers of", found[0])


class Needs(unittest.TestCase):
    def test_needs(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
            program = os.path.join(directory, "program")
            source = "#include <math.h>\nint main(int n, char **v) { return (int)sin(n) + !v; }\n"
            subprocess.run(["cc", "-fno-builtin", "-x", "c", "-", "-o", program, "-lm"], check=True,
                           input=source, text=True)
            self.assertEqual(list(structure.check_needs(program, ["libc", "libm"])), [])
            self.assertEqual(list(structure.check_needs(program, ["libc"])),
                             [f"{program} is linked with libm"])
            subprocess.run(["cc", "-static", "-x", "c", "-", "-o", program, "-lm"], check=True,
                           input=source, text=True)
            self.assertEqual(len(list(structure.check_needs(program, ["libc", "libm"]))), 1)


unittest.main()
