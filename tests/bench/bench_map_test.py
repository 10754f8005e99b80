"""Small runs of `bloomery-bench map`, `maps` and `memcached`: complete, and correct within
statistical bands. Times are not checked."""

import math
import os
import pathlib
import shutil
import subprocess
import tempfile

from bench_runner import BenchCase, PROGRAM, main, run, times

ITEMS = 20000
SMALL = ["--capacity", "20k", "--rounds", "1"]
PHASES = ["insert", "update", "delete", "hit", "miss", "hit_batch", "miss_batch"]
LOOKS = ["insert", "hit", "miss", "hit_batch", "miss_batch"]
SETTINGS = ["engine", "items", "values", "error", "isa", "shape", "decode", "encoder", "masked",
            "code", "raw", "skew", "top", "size", "grow", "batch", "rounds"]
FACTS = ["cells", "hashes", "bytes", "bytes_per_key", "bytes_per_key_total",
         "expected_false_negative", "expected_false_positive", "expected_incorrect",
         "false_negative", "false_positive", "incorrect", "unsure_present", "unsure_absent"]
CHANGES = ["refused_update", "refused_delete", "false_negative_updated", "incorrect_updated",
           "false_negative_deleted", "incorrect_deleted", "false_positive_deleted"]


def band(expected, items=ITEMS):
    """The upper end of the band for this many draws; errors may occur in pairs."""
    return expected + (5 * math.sqrt(2 * expected * items) + 2) / items


class Map(BenchCase):
    def check(self, *arguments, **expected):
        answer = self.read_json("map", *SMALL, "--json", *arguments)
        self.assertEqual(list(answer), ["bench", "machine", *SETTINGS, *FACTS, *CHANGES,
                                        *times(PHASES)])
        kbf = expected.get("engine") == "kbf"
        expected = {
            "bench": "map", "engine": "compact", "items": ITEMS, "values": 3000, "error": 0.001,
            "isa": answer["machine"]["isa"], "shape": "tuned" if kbf else None,
            "decode": 4 if kbf else None, "encoder": "algebraic" if kbf else None,
            "masked": True if kbf else None, "code": "library", "raw": False, "skew": 0, "top": 0,
            "size": 1 if kbf else None, "grow": False, "batch": 1024, "rounds": 1, **expected}
        self.assertEqual({name: answer[name] for name in expected}, expected)
        self.check_times(answer, PHASES,
                         ["hit_batch", "miss_batch"] if answer["code"] == "papers" else [])
        self.assertEqual(answer["bytes_per_key_total"], answer["bytes"] / ITEMS)
        self.assertLessEqual(answer["bytes_per_key"], answer["bytes_per_key_total"])
        for name in FACTS[5:] + CHANGES:
            self.assertTrue(0 <= answer[name] <= 1, name)
        return answer

    def kbf(self, *arguments, **expected):
        answer = self.check("--engine", "kbf", *arguments, engine="kbf", **expected)
        self.assertEqual(answer["cells"] % answer["hashes"], 0)
        self.assertGreaterEqual(answer["bytes_per_key"], 4 * answer["cells"] / ITEMS)
        # A present key has the right answer or none.
        self.assertEqual(answer["incorrect"], 0)
        self.assertLessEqual(answer["incorrect_updated"], answer["refused_update"])
        return answer

    def test_compact(self):
        first = self.check()
        self.assertEqual([first["false_negative"], first["unsure_absent"],
                          first["refused_update"], first["false_negative_updated"]], [0, 0, 0, 0])
        # If two keys share a fingerprint, the second deletion finds nothing.
        self.assertLessEqual(first["refused_delete"], band(0.001, ITEMS // 20))
        self.assertLessEqual(first["false_positive"], band(0.001))
        self.assertLessEqual(first["incorrect"], band(0.001))
        self.assertTrue(2.6 < first["bytes_per_key"] < 3.6, first["bytes_per_key"])
        # Neither the size of a batch nor the instruction set changes an answer.
        other = self.check("--batch", "7", "--isa", "scalar", batch=7)
        self.assertEqual(other["isa"], "scalar")
        self.assertEqual([other[name] for name in FACTS + CHANGES],
                         [first[name] for name in FACTS + CHANGES])
        grown = self.check("--grow", grow=True)
        self.assertGreater(grown["bytes_per_key"], first["bytes_per_key"])

    def test_distributions(self):
        """Five value distributions at the tuned shape's promise; the cells do not depend on the
        values."""
        for arguments, expected in (
                ([], {}),
                (["--top-share", "0.5"], {"top": 0.5}),
                (["--values", "8", "--top-share", "90%"], {"values": 8, "top": 0.9}),
                (["--values", "1"], {"values": 1}),
                (["--values", "16k", "--zipf", "1.5"], {"values": 16000, "skew": 1.5})):
            with self.subTest(arguments=arguments):
                answer = self.kbf(*arguments, **expected)
                wrong = answer["false_negative"] + answer["false_positive"] + answer["incorrect"]
                self.assertLessEqual(wrong, band(0.001))
                self.assertLessEqual(4 * answer["cells"] / ITEMS, 25)
                self.check(*arguments, **expected)

    def test_paper_shape(self):
        cells = math.ceil(ITEMS * math.log(1000) / math.log(2) ** 2)
        answer = self.kbf("--layout", "paper", shape="paper")
        self.assertEqual(answer["hashes"], 10)
        self.assertTrue(cells <= answer["cells"] <= cells * 1.002 + 10, answer["cells"])
        half = self.kbf("--layout", "paper", "--size", "0.5", shape="paper", size=0.5)
        self.assertTrue(0 <= half["cells"] - answer["cells"] / 2 < 10, half["cells"])
        double = self.kbf("--size", "2.0", size=2)
        self.assertEqual(double["cells"], 2 * self.kbf()["cells"])

    def test_published(self):
        """Every level with both encoders. What each of them decodes, test_paper_plan.c compares with
        the formulae, and the figures with what they were."""
        shape = ["--layout", "paper", "--size", "0.5", "--values", "150", "--unmasked"]
        for encoder, levels in (("greedy", (2, 3, "sets")), ("algebraic", (1, 2, 4))):
            missed = []
            for level in levels:
                answer = self.kbf(*shape, "--encoder", encoder, "--decode", str(level), shape="paper",
                                  size=0.5, values=150, masked=False, code="papers", encoder=encoder,
                                  decode=level)
                missed.append(answer["false_negative"])
            self.assertGreater(missed[0], missed[1])
            self.assertGreater(missed[1], missed[2])

    def test_few_values_unmasked(self):
        """What masks are for."""
        plain = self.kbf("--values", "1", "--unmasked", values=1, masked=False, code="papers")
        self.assertGreater(plain["false_positive"], 0.01)
        self.assertGreater(plain["false_negative"], 0.01)

    def test_raw(self):
        self.check("--integers", "--values", "4096", raw=True, values=4096)
        self.kbf("--integers", "--values", "1000", raw=True, values=1000)


class Maps(BenchCase):
    def test_side_by_side(self):
        answer = self.read_json("maps", *SMALL, "--values", "500", "--json")
        self.assertEqual(list(answer), ["bench", "machine", "maps", "values", "paper_by_compact",
                                        "tuned_by_compact", "compact_many_by_few",
                                        "kbf_many_by_few"])
        rows = answer["maps"] + answer["values"]
        self.assertEqual([(row["engine"], row["shape"], row["values"]) for row in rows], [
            ("compact", None, 500), ("kbf", "tuned", 500), ("kbf", "paper", 500),
            ("compact", None, 100), ("compact", None, 16000),
            ("kbf", "tuned", 100), ("kbf", "tuned", 16000)])
        for row in rows:
            self.assertEqual(list(row), [*SETTINGS, *FACTS, *times(LOOKS)])
            self.assertEqual(row["items"], ITEMS)
            self.assertLessEqual(row["false_positive"], band(0.001))
            self.assertLessEqual(row["false_negative"] + row["incorrect"], band(0.001))
        compact, tuned, paper = answer["maps"]
        ratios = answer["paper_by_compact"]
        self.assertEqual(list(ratios), ["bytes", *LOOKS])
        self.assertAlmostEqual(ratios["bytes"], paper["bytes_per_key"] / compact["bytes_per_key"])
        self.assertGreater(ratios["bytes"], 12)
        self.assertLess(tuned["bytes_per_key"], paper["bytes_per_key"])
        for phase in LOOKS:
            self.assertAlmostEqual(ratios[phase], paper[f"ns_{phase}"] / compact[f"ns_{phase}"])
        few, many = answer["values"][2:]
        self.assertAlmostEqual(answer["kbf_many_by_few"]["hit"], many["ns_hit"] / few["ns_hit"])


# A fake memcached that only listens and reports its pid and version.
LIAR = """#!/usr/bin/env python3
import os, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("-p") + 1])))
while True:
    stream = server.accept()[0].makefile("rwb")
    for line in stream:
        if line == b"stats\\r\\n":
            stream.write(b"STAT pid %d\\r\\nSTAT version 0\\r\\nSTAT curr_items %d\\r\\n"
                         b"STAT bytes 5\\r\\nEND\\r\\n" % (os.getpid(), ITEMS))
        elif line.startswith(b"get "):
            stream.write(ANSWER)
        elif line.startswith(b"set "):
            stream.write(b"STORED\\r\\n")
        elif line.startswith(b"delete "):
            stream.write(b"ERROR\\r\\n")
        stream.flush()
"""


class Memcached(BenchCase):
    NS = times(["fill", "hit", "miss", "hit_batch", "miss_batch", "update", "delete"])

    def test_beside_memcached(self):
        if not shutil.which("memcached"):
            self.skipTest("memcached is not installed")
        answer = self.read_json("memcached", *SMALL, "--json")
        self.assertEqual(list(answer), [
            "bench", "machine", "version", "pairs", "asked", "values", "error", "batch", "rounds",
            "key_bytes", "value_bytes", "stores", "memcached_by_kbf", "memcached_by_compact"])
        self.assertEqual([answer[name] for name in ("pairs", "values", "error", "rounds")],
                         [ITEMS, 3000, 0.001, 1])
        # What the two distributions give, with five standard errors of their draws.
        self.assertTrue(35.5 < answer["key_bytes"] < 36.8, answer["key_bytes"])
        self.assertTrue(150 < answer["value_bytes"] < 250, answer["value_bytes"])
        self.assertEqual([one["name"] for one in answer["stores"]], ["memcached", "kbf", "compact"])
        for one in answer["stores"]:
            self.assertEqual(list(one), ["name", "bytes_per_pair", "resident_per_pair", "wrong",
                                         "false_positive", *self.NS])
            self.assertTrue(all(one[name] > 0 for name in self.NS))
        server, kbf, compact = answer["stores"]
        self.assertEqual([server["wrong"], server["false_positive"]], [0, 0])
        self.assertGreater(server["bytes_per_pair"],
                           answer["key_bytes"] + answer["value_bytes"] + 48)
        self.assertAlmostEqual(answer["memcached_by_kbf"]["bytes"],
                               server["bytes_per_pair"] / kbf["bytes_per_pair"])
        self.assertLess(compact["bytes_per_pair"], kbf["bytes_per_pair"])

    def with_program(self, text):
        """Runs the bench with this program as memcached."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        os.chmod(directory.name, 0o755)  # it is run by nobody
        program = pathlib.Path(directory.name) / "memcached"
        program.write_text(text)
        program.chmod(0o755)
        return run("memcached", "--capacity", "1k", "--rounds", "1",
                   env={**os.environ, "PATH": f"{directory.name}:{os.environ['PATH']}"})

    def test_a_server_that_does_not_start(self):
        done = self.with_program("#!/bin/sh\nexit 1\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, "", "bloomery-bench: memcached does not start\n"))

    def test_a_server_that_lies(self):
        for answer in (b"END\r\n", b"VALUE other 0 1\r\nx\r\nEND\r\n", b"ERROR\r\n", b"\n",
                       b"VALUE x\r\n", b"VALUE  0 99999999999999999999\r\n"):
            with self.subTest(answer=answer):
                done = self.with_program(LIAR.replace("ITEMS", "1000")
                                         .replace("ANSWER", repr(answer)))
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertTrue(done.stderr.startswith("bloomery-bench: memcached"),
                                done.stderr)

    def test_nothing_is_left_behind(self):
        """The server ends with the bench, even if that is killed."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        os.chmod(directory.name, 0o777)
        pid_file = pathlib.Path(directory.name) / "pid"
        program = pathlib.Path(directory.name) / "memcached"
        program.write_text(f"#!/bin/sh\necho $$ > {pid_file}.new\nmv {pid_file}.new {pid_file}\n"
                           "exec sleep 1000\n")
        program.chmod(0o755)
        bench = subprocess.Popen([PROGRAM, "memcached", *SMALL], env={
            **os.environ, "PATH": f"{directory.name}:{os.environ['PATH']}"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not pid_file.exists():
            self.assertIsNone(bench.poll())
        bench.kill()
        bench.wait()
        pid = int(pid_file.read_text())
        for _ in range(3000):
            # It may be a zombie until init reaps it.
            try:
                if " Z " in pathlib.Path(f"/proc/{pid}/stat").read_text():
                    break
            except FileNotFoundError:
                break
            subprocess.run(["sleep", "0.01"], check=True)
        else:
            self.fail("the server still runs")


main()
