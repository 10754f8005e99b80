"""bloomery plan --cluster."""

import math

import cli_runner
from cli_runner import Case

# Sizes are those that the library plans.
TABLE = r"""1000000000000 items, error 0\.001, integers of 12 bits, engine compact

slabs                  1000000, of 3\.\d+ MiB
slabs per slot         61 on average, \d+ MiB
primaries              \d\d, with \d+ slabs, 4\d\.\d GiB
replicas               \d\d
memory                 \d\.\d+ TiB, with replicas \d\.\d+ TiB
bytes per item         3\.\d+
to move a slab         \d\d ms
to fill a new primary  [\d.]+ minutes: \d+ slabs, [\d.]+ GiB
"""
FIELDS = ["capacity", "error", "engine", "values", "value_bits", "slabs", "slab_capacity",
          "slab_bytes", "slabs_per_slot", "primaries", "replicas", "slabs_per_primary",
          "bytes_per_primary", "bytes_primaries", "bytes", "bytes_per_item", "move_slab_ms",
          "new_primary_slabs", "new_primary_bytes", "new_primary_ms", "false_positive",
          "false_negative", "incorrect"]


class PlanCluster(Case):
    def plan(self, *options, error="0.001"):
        plan = self.read_json("plan", "--cluster", "--error", error, *options, "--json")
        self.assertEqual(list(plan), FIELDS)
        self.assertEqual(plan["bytes_primaries"], plan["slabs"] * plan["slab_bytes"])
        self.assertGreaterEqual(plan["slabs"], 32 * plan["primaries"])
        self.assertLess(plan["slab_bytes"], 17.4e6)
        share = plan["capacity"] / plan["slabs"]
        self.assertEqual(plan["slab_capacity"], max(64, math.ceil(share + 4 * math.sqrt(share))))
        self.assertLessEqual(plan["false_positive"], plan["error"])
        self.assertLessEqual(plan["false_negative"] + plan["incorrect"], plan["error"])
        return plan

    def test_table(self):
        done = cli_runner.run("plan", "--cluster", "--capacity", "1e12", "--error", "0.1%", "--raw",
                              "12", "--node-memory", "64GB")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, f"^{TABLE}$")

    def test_many_nodes(self):
        done = cli_runner.run("plan", "--cluster", "--capacity", "1e12", "--error", "0.1%",
                              "--node-memory", "1GB")
        self.assertIn("\nMore than 1000 nodes", done.stdout)

    def test_slabs(self):
        """As many as the clients choose."""
        for options, slabs in ((["--capacity", "1e6"], 96), (["--capacity", "1e6", "--primaries", "5"], 160),
                               (["--capacity", "5e8", "--primaries", "5"], 500),
                               (["--capacity", "1e12"], 10**6), (["--capacity", "1"], 96)):
            self.assertEqual(self.plan(*options, "--raw", "12")["slabs"], slabs, options)
        kbf = self.plan("--capacity", "1e9", "--engine", "kbf", "--raw", "12")
        self.assertEqual(kbf["slabs"], 1750)
        self.plan("--capacity", "1e9", "--engine", "kbf", error="1e-9")

    def test_values(self):
        for values, bits in (("1", 8), ("64", 8), ("65", 9), ("3000", 14), ("2^24", 24)):
            plan = self.plan("--capacity", "1e6", "--values", values)
            self.assertEqual((plan["values"], plan["value_bits"]), ("codes", bits), values)
        self.assertEqual(self.plan("--capacity", "1e6")["value_bits"], 12)
        self.assertEqual(self.plan("--capacity", "1e6", "--values", "1e5", "--engine",
                                   "kbf")["value_bits"], 13)
        raw = self.plan("--capacity", "1e6", "--raw", "32")
        self.assertEqual((raw["values"], raw["value_bits"]), ("raw", 32))

    def test_nodes(self):
        plan = self.plan("--capacity", "1e10", "--primaries", "7", "--replicas", "2")
        self.assertEqual((plan["primaries"], plan["replicas"]), (7, 14))
        self.assertEqual(plan["bytes"], 3 * plan["bytes_primaries"])
        for memory in ("4GB", "64GB"):
            plan = self.plan("--capacity", "1e11", "--node-memory", memory, "--replicas", "0")
            room = int(memory[:-2]) * 2**30 * 3 / 4
            self.assertLessEqual(plan["bytes_primaries"] / plan["primaries"], room)
            self.assertGreater(plan["bytes_primaries"] / (plan["primaries"] - 1), 0.99 * room)
            self.assertEqual(plan["replicas"], 0)

    def test_misuse(self):
        good = ["plan", "--cluster", "--capacity", "1e6", "--error", "0.01"]
        for more, text in ((["--rate", "5"], "--rate cannot be combined with --cluster"),
                           (["--job", "map"], "--job cannot be combined with --cluster"),
                           (["--raw", "8", "--values", "9"],
                            "--values cannot be combined with --raw"),
                           (["--raw", "33"], "--raw: values have 1 to 32 bits"),
                           (["--raw", "14", "--engine", "kbf"], "--raw: values have 1 to 13 bits"),
                           (["--engine", "fbf"], "--engine: with --cluster it is compact or kbf"),
                           (["--engine", "x"], "--engine: with --cluster it is compact or kbf"),
                           (["--replicas", "x"], '--replicas: "x" is not a number from 0 to 100'),
                           (["--primaries", "16385"], "--primaries: a cluster has at most 16384 primaries"),
                           (["--capacity", "2^41"], "--capacity: at most 2^40"),
                           (["--values", "2^25"], "--values: at most 2^24 with --cluster"),
                           (["--error", "1e-10"], "--error: a map takes 1e-9 to 0.5"),
                           (["--error", "0.6"], "--error: a map takes 1e-9 to 0.5"),
                           (["--node-memory", "10"],
                            "--node-memory: more than 16384 primaries would be needed")):
            with self.subTest(more=more):
                self.expect_misuse(good + more, text)
        for option in ("--primaries", "--node-memory", "--replicas"):
            self.expect_misuse(["plan", "--capacity", "1", "--error", "0.1", option, "5"],
                               f"{option} needs --cluster")


cli_runner.main()
