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
    with tempfile.TemporaryDirectory() as directory:
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

    def test_upwards(self):
        self.one({"lib/hash/up.c": '#include "bloom/bloom.h"\n'}, "lib/hash must not include")

    def test_jobs_apart(self):
        self.one({"lib/map/map.c": '#include "filter/filter.h"\n'}, "lib/map must not include")

    def test_inside_of_the_maplet(self):
        self.one({"lib/maplet/table.h": "", "lib/map/map.c": '#include "maplet/table.h"\n'},
                 "maplet/table.h is for lib/maplet alone")

    def test_inside_of_an_engine(self):
        inside = {"lib/map/kbf/kbf.h": "", "lib/map/kbf/kbf.c": '#include "map/kbf/kbf.h"\n'}
        self.assertEqual(findings(inside), [])
        for path in ("lib/map/map.c", "lib/map/compact/other.c"):
            self.one({**inside, path: '#include "map/kbf/kbf.h"\n'}, "for lib/map/kbf alone")

    def test_indented_include(self):
        self.one({"lib/hash/up.c": '#  include "bloom/bloom.h"\n'}, "lib/hash must not include")

    def test_unknown_directory(self):
        self.one({"lib/odd/odd.c": "#include <stdio.h>\n"}, "lib/odd has no place")

    def test_include_not_from_lib(self):
        self.one({"lib/bloom/near.c": '#include "bloom.h"\n'}, "not written from lib/")

    def test_surface_looks_inside(self):
        self.one({"cli/peek.c": '#include "bloom/bloom.h"\n'}, "is not public, nor of cli/")

    def test_surface_climbs(self):
        self.one({"cli/peek.c": '#include "../lib/bloom/bloom.h"\n'}, "leaves its directory")

    def test_surface_near_include(self):
        self.one({"cli/seen/near.c": '#include "seen.h"\n'}, "not written from the root")

    def test_program_looks_at_bench_and_papers(self):
        self.one({"cli/peek.c": '#include "papers/paper.h"\n'}, "is not public, nor of cli/")
        self.one({"cli/peek.c": '#include "bench/harness/measure.h"\n'}, "is not public, nor of cli/")

    def test_bench_uses_a_command(self):
        self.one({"bench/peek.c": '#include "cli/seen/seen.h"\n'}, "is not public, nor of bench/")

    def test_harness_knows_no_case(self):
        self.one({"bench/cases/cases.h": "",
                  "bench/harness/peek.c": '#include "bench/cases/cases.h"\n'},
                 "bench/harness must not include bench/cases/cases.h")

    def test_papers_use_bench(self):
        self.one({"papers/peek.c": '#include "bench/harness/measure.h"\n'}, "nor of papers/")

    def test_text_knows_nothing(self):
        self.one({"text/peek.c": '#include "kernel/kernel.h"\n'}, "is not public, nor of text/")
        self.one({"text/peek.c": "#include <bloomery/base.h>\n"}, "does not know the library")

    def test_core_of_a_surface_includes_a_family(self):
        self.one({"module/core/object.c": '#include "module/map/map_type.h"\n'},
                 "module/core must not include module/map/map_type.h")

    def test_families_apart(self):
        self.one({"module/map/map.c": '#include "module/window/window_type.h"\n'},
                 "module/map must not include module/window/window_type.h")

    def test_directory_includes_the_top(self):
        self.one({"module/module.h": "", "module/map/map.c": '#include "module/module.h"\n'},
                 "module/map must not include module/module.h")

    def test_unknown_directory_of_a_surface(self):
        self.one({"module/odd/odd.c": ""}, "module/odd has no place")

    def test_public_includes_private(self):
        self.one({"include/bloomery/x.h": "#include <xxhash.h>\n"}, "xxhash.h")

    def test_missing_public_header(self):
        self.one({"cli/lost.c": "#include <bloomery/lost.h>\n"}, "there is no <bloomery/lost.h>")

    def test_public_header_quoted(self):
        self.one({"cli/quoted.c": '#include "bloomery/base.h"\n'}, "with <>")

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

    def test_no_comment(self):
        self.one({"include/bloomery/x.h": "/* x */\n\nBRY_API int bry_x(\n    int a);\n"},
                 "x.h:3", "bry_x has no comment")

    def test_comment_above_something_else(self):
        self.one({"include/bloomery/x.h":
                  "/* y */\nBRY_API int bry_y(void);\n\nBRY_API int bry_x(void);\n"},
                 "bry_x has no comment")

    def test_not_marked(self):
        self.one({"include/bloomery/x.h": '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
                                          "/* x */\nint bry_x(void);\n"},
                 "bry_x lacks BRY_API")

    def test_fields_without_a_comment(self):
        base = GOOD["include/bloomery/base.h"].replace("    int (*f)(int); /* behind; */", "    int f;")
        self.one({"include/bloomery/base.h": base}, "base.h:11", "int f has no comment")


class Exports(unittest.TestCase):
    def test_exports(self):
        with tempfile.TemporaryDirectory() as directory:
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
            missing = found("int bry_a(void) { return 1; }\n")
            self.assertEqual(len(missing), 1, missing)
            self.assertIn("bry_b is declared", missing[0])
            extra = found(both + "int bry__inner(void) { return 2; }\n",
                          linked=["bry_a", "bry_b", "bry__inner"])
            self.assertEqual(len(extra), 1, extra)
            self.assertIn("exports bry__inner", extra[0])
            new = found(both, ["bry_a"], ["bry_a", "bry_b"])
            self.assertEqual(len(new), 1, new)
            self.assertIn("bry_b has version 0.1; the map says None", new[0])
            gone = found(both, ["bry_a", "bry_b", "bry_c"])
            self.assertEqual(len(gone), 1, gone)
            self.assertIn("bry_c is gone", gone[0])

    def test_releases_stay(self):
        with tempfile.TemporaryDirectory() as directory:
            versions = pathlib.Path(directory) / "x.map"
            symbol_map.update(versions, "X", "0.1", ["bry_b", "bry_a"])
            symbol_map.update(versions, "X", "0.2", ["bry_a", "bry_b", "bry_c"])
            self.assertEqual(symbol_map.read(versions),
                             {"0.1": ["bry_a", "bry_b"], "0.2": ["bry_c"]})
            self.assertIn("} X_0.1;", versions.read_text())


class Called(unittest.TestCase):
    def test_called(self):
        with tempfile.TemporaryDirectory() as directory:
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
        with tempfile.TemporaryDirectory() as directory:
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
        with tempfile.TemporaryDirectory() as directory:
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


if __name__ == "__main__":
    unittest.main()
