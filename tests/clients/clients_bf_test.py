"""Every method for filters of npm's redis, by both protocols. (Those of python3-redis are in
tests/module/module_bf_test.py.)"""

import pathlib

import client_languages
from server_runner import Case

PROGRAM = pathlib.Path(__file__).with_name("bf_methods.mjs")
METHODS = "ADD CARD EXISTS INFO INSERT LOADCHUNK MADD MEXISTS RESERVE SCANDUMP"


class Methods(Case):
    def check(self, protocol):
        done = client_languages.run(PROGRAM, self.server.port, protocol)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, METHODS + "\n")

    def test_resp2(self):
        self.check(2)

    def test_resp3(self):
        self.check(3)


client_languages.main()
