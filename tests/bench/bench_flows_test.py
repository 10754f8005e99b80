"""A small run of `bloomery-bench flows`: complete, and the errors are what they should be."""

import os

from bench_runner import Case, main, run

STRUCTURES = ["sbf", "sbf_counted", "kbf_published", "kbf", "compact_tenth", "compact_quarter"]


class Flows(Case):
    def test_report(self):
        answer = self.read_json("flows", "--packets", "300k", "--json")
        self.assertEqual([answer[name] for name in ("bench", "flows", "live", "packets")],
                         ["flows", 27272, 3030, 300000])
        self.assertEqual([round(row["p"], 9) for row in answer["paper"]],
                         [0.1, 0.01, 0.001, 0.0001, 0.00001])
        for row in answer["paper"]:
            self.assertEqual([name for name in row if name != "p"], STRUCTURES)
            kbf, tenth, quarter = (row[name] for name in STRUCTURES[3:])
            self.assertLessEqual(tenth["bytes"] * 10, kbf["bytes"])
            self.assertLessEqual(quarter["bytes"] * 4, kbf["bytes"])
        first, last = answer["paper"][0], answer["paper"][-1]
        self.assertLess(last["kbf"]["false_negative"], first["kbf"]["false_negative"] / 10)
        self.assertGreater(last["sbf"]["false_negative"], first["sbf"]["false_negative"] / 10)
        for name in ("libpcap", "compact", "kbf", "exact"):
            self.assertGreater(answer["whole_packets"][name]["seconds"], 0)
        compact, exact = (answer["whole_packets"][name] for name in ("compact", "exact"))
        self.assertLess(abs(compact["flows"] - exact["flows"]), 0.003 * exact["flows"])
        self.assertLess(compact["most_flow_bytes"], 8 * compact["most_live_flows"])
        self.assertEqual(list(answer["first_128_bytes"]), ["bytes", "libpcap", "compact"])
        programs = answer["programs"]
        self.assertEqual(list(programs), ["packets", "rounds", "bloomery", "softflowd"])
        self.assertLess(abs(programs["bloomery"]["flows"] - exact["flows"]), 0.003 * exact["flows"])
        self.assertEqual(programs["bloomery"]["error"], 0.001)
        self.assertLess(programs["bloomery"]["false_positive"], 0.003)
        for name in ("bloomery", "softflowd"):
            if programs[name]:
                self.assertGreater(programs[name]["peak_bytes"], programs[name]["empty_bytes"])

    def test_no_room(self):
        done = run("flows", "--packets", "20k", env={**os.environ, "TMPDIR": "/nowhere"})
        self.assertEqual(done.returncode, 3)
        self.assertIn("a temporary file", done.stderr)


main()
