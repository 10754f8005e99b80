"""The C client and servers that behave strangely: a server of a few lines plays their part."""

import contextlib
import os
import socket
import sys
import threading
import unittest.mock

from cluster_client_c_test import Talk
from map_agents import CAgent, Failed

OK, NIL = b"+OK\r\n", b"$-1\r\n"
SINGLE = b"-ERR This instance has cluster support disabled\r\n"


class Fake:
    """Answers commands with replies from a function of (words, number of the command): bytes; None
    to close the connection; a list of bytes, which are sent one by one; "hang" to say nothing."""

    def __init__(self, answer):
        self.answer, self.count, self.seen = answer, 0, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as file:
            while line := file.readline():
                words = [file.read(int(file.readline()[1:]) + 2)[:-2]
                         for _ in range(int(line[1:]))]
                if words[0] == b"CLUSTER":
                    reply = self.slots()
                else:
                    self.seen.append(words)
                    reply = self.answer(words, len(self.seen))
                if reply is None:
                    return
                for part in reply if isinstance(reply, list) else [reply]:
                    if part != "hang":
                        connection.sendall(part)

    def slots(self):
        return SINGLE


class FakeCluster(Fake):
    """One node that has all slots."""

    def slots(self):
        return b"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:%d\r\n" % self.port


class Strange(unittest.TestCase):
    def talk(self, server, patience=None):
        limits = {"TALK_PATIENCE": str(patience)} if patience else {}
        return Talk(f"redis://127.0.0.1:{server.port}", **limits)

    def ask(self, answer, patience=None, kind=Fake, commands=("1 GET a", "1 GET b")):
        with kind(answer) as server, self.talk(server, patience) as talk:
            self.assertEqual(talk.opened, "OK")
            replies, status = talk.send(commands)
            return replies, status, server

    def test_split_replies(self):
        reply = b"$5\r\nhello\r\n"
        replies, status, _ = self.ask(lambda *_: [reply[i:i + 1] for i in range(len(reply))])
        self.assertEqual((replies, status), (["OK hello", "OK hello"], "OK"))

    def test_later(self):
        for word in ("LOADING", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN", "BUSY"):
            with self.subTest(word=word):
                error = f"-{word} not now\r\n".encode()
                replies, status, server = self.ask(
                    lambda _, count, error=error: error if count <= 4 else OK, kind=FakeCluster)
                self.assertEqual((replies, status), (["OK OK", "OK OK"], "OK"))
                self.assertEqual(len(server.seen), 6)

    def test_never(self):
        replies, status, _ = self.ask(lambda *_: b"-CLUSTERDOWN the cluster is down\r\n", 500,
                                      FakeCluster)
        self.assertEqual(replies, ["IO -", "IO -"])
        self.assertIn("CLUSTERDOWN the cluster is down", status)
        # The connection works afterwards.

    def test_redirections_without_end(self):
        with FakeCluster(lambda *_: b"-MOVED 5 :%d\r\n" % server.port) as server, self.talk(server, 500) as talk:
            replies, status = talk.send(["1 GET a"])
            self.assertEqual(replies, ["IO -"])
            self.assertIn("MOVED", status)
            self.assertLess(len(server.seen), 30)

    def test_closed_connections(self):
        # The first two commands get no reply.
        replies, status, server = self.ask(lambda _, count: None if count <= 2 else OK,
                                           kind=FakeCluster)
        self.assertEqual((replies, status), (["OK OK", "OK OK"], "OK"))
        # In the middle of a reply.
        replies, status, server = self.ask(
            lambda _, count: [b"$100\r\nhal", b"f"] if count == 1 else OK, patience=2000)
        self.assertEqual((replies, status), (["OK OK", "OK OK"], "OK"))

    def test_silence(self):
        replies, status, server = self.ask(lambda _, count: "hang" if count <= 2 else OK,
                                           patience=3000)
        self.assertEqual((replies, status), (["OK OK", "OK OK"], "OK"))
        replies, status, server = self.ask(lambda *_: "hang", patience=500)
        self.assertEqual(replies, ["IO -", "IO -"])
        self.assertTrue(status.endswith("no answer in time"), status)

    def test_nonsense(self):
        for nonsense in (b"hello\r\n", b"*2\r\n:1\r\nx\r\n", b"$-5\r\n", b"*-7\r\n", OK + OK):
            with self.subTest(nonsense=nonsense):
                replies, status, _ = self.ask(lambda *_, n=nonsense: n, patience=400,
                                              commands=("1 GET a",))
                self.assertIn(replies, (["IO -"], ["OK OK"]))
        # As the reply to the first question.
        for nonsense in (b":1\r\n", b"*1\r\n:5\r\n", b"*1\r\n*3\r\n:0\r\n:99999\r\n*0\r\n",
                         b"-ERR unknown\r\n", b"*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n:1\r\n$1\r\nx\r\n"):
            class Odd(Fake):
                def slots(self, nonsense=nonsense):
                    return nonsense
            with Odd(lambda *_: OK) as server, self.talk(server) as talk:
                self.assertIn("CLUSTER SLOTS", talk.opened)

    def test_map_of_strangers(self):
        """Replies that are not a map's."""
        record = (b"bloomery-map 1 slabs=1 epoch=0123456789abcdef pick=crc32 values=raw:12 "
                  b"engine=compact capacity=5 error=0.001 seed=7")

        def answer(reply):
            return lambda words, _: b"$%d\r\n%s\r\n" % (len(record), record) \
                if words[0] == b"SET" else reply
        for reply, status in (
                (b"*1\r\n:5\r\n", "OK"), (b"*2\r\n:5\r\n:6\r\n", "IO"), (b":5\r\n", "IO"),
                (b"*1\r\n$1\r\nx\r\n", "IO"), (b"*1\r\n*1\r\n:1\r\n", "IO"),
                (b"-WRONGTYPE no map\r\n", "WRONGTYPE"), (b"-ERR no\r\n", "IO"),
                (b"*1\r\n-UNSURE x\r\n", "OK"), (b"*1\r\n-FULL x\r\n", "Full")):
            with self.subTest(reply=reply), Fake(answer(reply)) as server, \
                    unittest.mock.patch.dict(os.environ, TALK_PATIENCE="400"), \
                    contextlib.closing(CAgent()) as agent:
                agent.create(f"redis://127.0.0.1:{server.port}/m")
                kind = "OK"
                try:
                    agent.get_many([b"a"])
                except Failed as error:
                    kind = error.kind
                self.assertEqual(kind.replace("BADDATA", "IO"), status)


unittest.main(argv=sys.argv[:1])
