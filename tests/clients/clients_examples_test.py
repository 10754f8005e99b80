"""The client examples in one language: their output, which is the same in all languages, and their
failure if something is wrong."""

import re
import socket

import client_languages
from server_runner import Case, Server, pairs

LIKES = """\
ann likes post:7: 1, counted
ben likes post:7: 2, an earlier try was counted
cleo likes post:7: 3, counted
cleo comments on post:7, an earlier try was stored
3 clicks, 4 requests, 3 likes; 1 comment
"""
CRAWL = """\
  /shop failed, to be tried again
hour 0: 8 pages fetched, 12 links to known ones
hour 6: 0 pages fetched, 1 links to known ones
hour 48: 8 pages fetched, 12 links to known ones
"""
ROW_CACHE = """\
2000 unknown names: 0 found, N queries
1000 users: 1000 found, 1000 queries; again: 1000 found, 0 queries
one inserted: 1 found; one deleted: 0 found
the filter is lost: 2 users, 2 found
"""


class Examples(Case):
    def printed(self, name):
        done = client_languages.run(name, self.server.port)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    # Each runs twice: data left by the first run does not disturb the second.

    def test_likes(self):
        for _ in range(2):
            # A server that sleeps may get the second try before the first …
            printed = re.sub("(?<=ben likes post:7: 2, )counted", "an earlier try was counted",
                             self.printed("likes"))
            printed = re.sub("(?<=comments on post:7, )stored", "an earlier try was stored",
                             printed)
            # … and gets more than two if it sleeps longer.
            self.assertEqual(re.sub(r"\d+ requests", "4 requests", printed), LIKES)
            info = pairs(self.client("COUNTER.INFO", "example:likes"))
            self.assertEqual(info[b"applied"], 3)
            self.assertGreaterEqual(info[b"repeats"], 1)

    def test_crawl(self):
        for _ in range(2):
            self.assertEqual(self.printed("crawl"), CRAWL)

    def test_row_cache(self):
        for _ in range(2):
            # The example itself checks that they are few: at most one unknown name in a hundred.
            self.assertEqual(re.sub(r"found, \d+", "found, N", self.printed("row_cache"), count=1),
                             ROW_CACHE)

    def test_without_a_server(self):
        with socket.socket() as nobody:  # bound, but not listening
            nobody.bind(("127.0.0.1", 0))
            for name in ("crawl", "likes", "row_cache"):
                with self.subTest(name=name):
                    done = client_languages.run(name, nobody.getsockname()[1])
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertEqual(done.stdout, "")

    def test_without_the_module(self):
        plain = Server()
        del plain.settings["loadmodule"]
        with plain:
            for name in ("crawl", "likes", "row_cache"):
                with self.subTest(name=name):
                    done = client_languages.run(name, plain.port)
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertIn("unknown command", done.stderr)


client_languages.main()
