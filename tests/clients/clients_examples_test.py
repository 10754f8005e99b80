"""The examples of clients, in one language: what they print, that they succeed, and that they do
not where something is wrong. In all languages they print the same."""

import re

import client_languages
from server_runner import Case, Server

LIKES = """\
ann likes post:7: 1, counted
ben likes post:7: 2, an earlier try was counted
cleo likes post:7: 3, counted
3 clicks, 4 requests, 3 likes
"""
CRAWL = """\
  /shop failed, to be tried again
hour 0: 8 pages fetched, 12 links to known ones
hour 6: 0 pages fetched, 1 links to known ones
hour 48: 8 pages fetched, 12 links to known ones
"""
NAMES = ("crawl", "likes")


class Examples(Case):
    def printed(self, name):
        done = client_languages.run(name, self.server.port)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_likes(self):
        # A server that sleeps for long may take the second try before the first.
        printed = re.sub("(?<=ben likes post:7: 2, )counted", "an earlier try was counted",
                         self.printed("likes"))
        # One that sleeps longer gets more than two.
        self.assertEqual(re.sub(r"\d+ requests", "4 requests", printed), LIKES)
        info = dict(zip(*[iter(self.client("COUNTER.INFO", "example:likes"))] * 2))
        self.assertEqual(info[b"applied"], 3)
        self.assertGreaterEqual(info[b"repeats"], 1)

    def test_crawl(self):
        self.assertEqual(self.printed("crawl"), CRAWL)

    def test_again(self):
        """What an earlier run left does not disturb the next."""
        for name in NAMES:
            self.assertEqual(self.printed(name)[-20:], self.printed(name)[-20:])

    def test_without_the_module(self):
        plain = Server()
        del plain.settings["loadmodule"]
        with plain:
            for name in NAMES:
                with self.subTest(name=name):
                    done = client_languages.run(name, plain.port)
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertIn("unknown command", done.stderr)


if __name__ == "__main__":
    client_languages.main()
