"""Random commands, payloads and frames, for every family that the module registers: the server must
not crash, an error must not change the data, and a replica and a restart must give the same data.

    PROGRAM SERVER MODULE [PRELOAD]      4,000 steps; BLOOMERY_FUZZ_COMMANDS=n sets the number,
                                         BLOOMERY_FUZZ_SECONDS=n runs for n seconds instead
"""

import os
import random
import struct
import time

import server_runner
from payloads import CHUNK_HEAD, FOOTER, chunk_of, contents, payload_of, resealed, sealed
from server_runner import Case, Error, Server, pairs

COMMANDS = int(os.environ.get("BLOOMERY_FUZZ_COMMANDS", "4000"))
SECONDS = float(os.environ.get("BLOOMERY_FUZZ_SECONDS", "0"))
SEED = int(os.environ.get("BLOOMERY_FUZZ_SEED", "1"))

STRANGE_KEYS = ["text", "list", "none", b"\0", ""]
NUMBERS = ["0", "1", "2", "7", "10", "64", "100", "1000", "5000", "60000"]
ODD = ["", "0", "-1", "1", "1e3", "0.01", "1%", "1.5", "nan", "inf", "-inf", "-0", "1e999", "1e-400",
       "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
       "18446744073709551616", "9" * 400, "2^20", "60s", "1h", "64mb", "1tb", "x", "-", "+1", " 1",
       "1 ", "0x10", "\r\n", b"\xff\xfe", b"\0", b"1\0", "a" * 300, b"v" * 66000, "*", "$1", "(", "[",
       "AT", "ITEMS", "LAST", "LIKE", "SEED", "ENGINE", "auto", "kbf", "compact", "fbf", "dba"]
FAMILIES = {b"bloom-map": b"MAP", b"bloom-win": b"WINDOW", b"bloom-cnt": b"COUNTER",
            b"bloom-idx": b"INDEX", b"bloom-flt": b"BF"}
# Errors after which an object may differ: the library counts them, or a restore is aborted.
COUNTED = {"FULL", "UNSURE", "OVERFLOW", "BADDATA"}


class Source(random.Random):
    def damaged_frames(self, frames):
        """Damages at least one frame, or removes, duplicates or moves one."""
        frames, kind = list(frames), self.random()
        at = self.randrange(len(frames)) if frames else 0
        if not frames or kind < 0.05:
            frames.insert(at, (b"NUMS", b""))
        elif kind < 0.1:
            del frames[at]
        elif kind < 0.15:
            frames.insert(at, frames[self.randrange(len(frames))])
        else:
            frames[at] = (frames[at][0], self.damaged(frames[at][1]))
        return frames

    def damaged(self, data):
        """Damages the bytes, usually by flipping a bit."""
        data = bytearray(data)
        for _ in range(self.choice((1, 1, 1, 2, 5))):
            at = self.randrange(len(data)) if data else 0
            if self.random() < 0.3:  # where the header and its lengths are
                at = self.randrange(min(len(data), 120)) if data else 0
            kind = self.random()
            if not data or kind < 0.08:
                data[at:at] = self.randbytes(self.choice((1, 2, 8, 100)))
            elif kind < 0.5:
                data[at] ^= 1 << self.randrange(8)
            elif kind < 0.6:
                data[at] = self.choice((0, 1, 127, 128, 255))
            elif kind < 0.75:
                del data[at:]
            elif kind < 0.82:
                del data[at:at + self.choice((1, 2, 8, 100))]
            elif kind < 0.91:
                data[at:at + 8] = self.choice((b"\0" * 8, b"\xff" * 8, struct.pack("<Q", 1 << 40)))
            else:
                other = self.randrange(len(data))
                data[at:at + 64] = data[other:other + 64]
        return bytes(data)


# ---- commands from their own descriptions --------------------------------------------------------


class Grammar:
    """One command as COMMAND DOCS describes it."""

    def __init__(self, name, arity, docs):
        self.name, self.arity = name, arity
        self.family = name.split(b".")[0].decode().lower()
        self.arguments = [pairs(argument) for argument in docs.get(b"arguments", [])]
        self.tokens = list(self.tokens_of(self.arguments))

    def tokens_of(self, arguments):
        for argument in map(pairs, arguments):
            if b"token" in argument:
                yield argument[b"token"]
            yield from self.tokens_of(argument.get(b"arguments", []))

    def key(self, source):
        if source.random() < 0.06:
            return source.choice(STRANGE_KEYS)
        family = "window" if self.family == "once" else self.family
        return f"{family} {source.randrange(3)}"

    def plausible(self, source):
        """Valid arguments."""
        if not self.arguments:  # internal: LOAD and what is replicated
            count = abs(self.arity) - 2 + source.choice((0, 0, 1, 2)) * (self.arity < 0)
            return [self.key(source), *(source.choice(NUMBERS + ["LAST", "x"])
                                        for _ in range(count))]
        return [word for argument in self.arguments for word in self.words(argument, source)]

    def words(self, argument, source):
        argument = pairs(argument)
        flags = argument.get(b"flags", [])
        if b"optional" in flags and source.random() < 0.6:
            return
        times = source.choice((1, 1, 2, 3, 9, 70)) if b"multiple" in flags else 1
        for i in range(times):
            if b"token" in argument and (i == 0 or b"multiple_token" in flags):
                yield argument[b"token"]
            yield from self.value(argument, source)

    def value(self, argument, source):
        kind, inner = argument[b"type"], argument.get(b"arguments", [])
        if kind == b"oneof":
            yield from self.words(source.choice(inner), source)
        elif kind == b"block":
            for part in inner:
                yield from self.words(part, source)
        elif kind == b"key":
            yield self.key(source)
        elif kind == b"integer":
            yield source.choice(NUMBERS)
        elif kind == b"unix-time":
            yield 1_700_000_000_000 + source.randrange(100_000)
        elif kind == b"double":
            yield source.choice(("0.1", "1%", "0.001", "1e-6", "1e-9"))
        elif kind != b"pure-token":
            yield source.choice((f"field {source.randrange(300)}", source.randrange(300),
                                 source.choice(NUMBERS), "SET", f"text {source.randrange(3)}"))

    def spoilt(self, words, source):
        """Invalid arguments: missing, superfluous or of the wrong type."""
        for _ in range(source.choice((1, 1, 2, 4))):
            at, kind = source.randrange(len(words) + 1), source.random()
            if kind < 0.2:
                del words[at:at + 1]
            elif kind < 0.3:
                del words[at:]
            elif kind < 0.4:
                words.insert(at, source.choice(ODD))
            elif kind < 0.5 and self.tokens:
                words.insert(at, source.choice(self.tokens))
            elif kind < 0.6:
                words += words[at:]
            else:
                words[at:at + 1] = [source.choice(ODD)]
        return words

    def command(self, source):
        words = self.plausible(source)
        if source.random() < 0.45:
            words = self.spoilt(words, source)
        return [self.name, *words]


class Fuzz(Case):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "rdbcompression": "no",
                "bloomery.max-key-bytes": "1mb"}

    def grammars(self):
        names = sorted(self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery"))
        infos = self.client("COMMAND", "INFO", *names)
        docs = pairs(self.client("COMMAND", "DOCS", *names))
        found = [Grammar(info[0].upper(), info[1], pairs(docs[name])) for name, info in zip(names, infos)]
        self.assertGreater(len(found), 20)
        return found

    def asked(self, step, command, before):
        """Sends a command and checks that an error did not change the data."""
        reply = self.client.ask(*command)
        if isinstance(reply, Error):
            self.assertNotIn(reply.word, ("", "UNKNOWN"), command)
            if reply.word not in COUNTED and command[0] != b"ONCE":  # which moves the guard's time
                self.assertEqual(self.client("DEBUG", "DIGEST"), before,
                                 (step, command, str(reply)))
        return reply

    # ---- the kinds of steps ------------------------------------------------------------------

    def step_command(self, step, source):
        grammar = source.choice(self.commands)
        if grammar.arguments == []:  # internal: usually refused
            grammar = source.choice(self.commands)
        command = grammar.command(source)
        self.tally(command[0], self.asked(step, command, self.client("DEBUG", "DIGEST")))

    def some_dump(self, source):
        """The type and dump of a key of ours, small enough to be damaged often; or None twice."""
        key = source.choice(self.commands).key(source)
        kind = self.client("TYPE", key)
        dump = self.client("DUMP", key) if kind.startswith(b"bloom") else None
        if dump and len(dump) > 60_000:
            self.client("DEL", key)
            dump = None
        return (kind, dump) if dump else (None, None)

    def touch(self, key, source):
        """An accepted key can be queried, changed and saved."""
        family = FAMILIES.get(self.client("TYPE", key))
        for grammar in source.sample(self.commands, 20):
            if family == grammar.name.split(b".")[0]:
                self.client.ask(grammar.name, key, *grammar.plausible(source)[1:])
        dump = self.client("DUMP", key)
        if dump:  # it stays within what clients may load and add; what it saves, it can load
            self.assertLess(self.client("MEMORY", "USAGE", key), 2 << 20)
            self.client("RESTORE", "again", 0, dump, "REPLACE")
            self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", key, "again"))
            self.client("DEL", "again")
        self.client("INFO", "bloomery")

    def step_restore(self, step, source):
        _, dump = self.some_dump(source)
        if not dump:
            return
        body = dump[:-FOOTER]
        self.assertEqual(sealed(dump[:-8]), dump)
        intact = source.random() < 0.03
        if not intact:  # usually after the module's id, which the server checks
            body = (source.damaged(body) if source.random() < 0.1
                    else body[:10] + source.damaged(body[10:]))
        before = self.client("DEBUG", "DIGEST")
        reply = self.client.ask("RESTORE", "restored", 0, sealed(body + dump[-FOOTER:-8]))
        self.payloads[not isinstance(reply, Error)] += 1
        if isinstance(reply, Error):
            self.assertFalse(intact, str(reply))
            self.assertEqual(self.client("DEBUG", "DIGEST"), before, (step, str(reply)))
        else:
            self.touch("restored", source)
        self.client("DEL", "restored")

    def step_frames(self, step, source):
        """Damaged frames with valid checksums."""
        kind, dump = self.some_dump(source)
        frames = contents(dump) if dump else None
        if not frames:
            return
        if source.random() < 0.2:
            self.assertEqual(resealed(frames, lambda same: same), frames)
        elif source.random() < 0.7:
            frames = resealed(frames, source.damaged_frames)
        else:
            frames = source.damaged(frames)
        reply = self.client.ask("RESTORE", "loaded", 0, payload_of(dump, frames))
        if reply == b"OK":
            self.assertEqual(self.client("TYPE", "loaded"), kind)
            self.loaded += 1
            self.touch("loaded", source)
        self.client("DEL", "loaded")

    def step_chunks(self, step, source):
        """The same for filters, by chunks."""
        iterator, chunks, intact = 0, [], source.random() < 0.3
        while not chunks or chunks[-1][0]:
            reply = self.client.ask("BF.SCANDUMP", f"bf {source.randrange(3)}", iterator)
            if isinstance(reply, Error):
                return
            iterator = reply[0]
            chunks.append(reply)
        forged = len(chunks) == 2 and source.random() < 0.7
        if forged:
            payload = chunks[0][1][CHUNK_HEAD:]
            self.assertEqual(list(chunk_of(payload)), chunks[0])
            chunks[0] = chunk_of(resealed(payload, source.damaged_frames))
        for number, data in chunks[:-1]:
            if not intact and not forged:
                number += source.choice((0, 0, 0, -1, 1))
                data = source.damaged(data) if source.random() < 0.7 else data
            reply = self.client.ask("BF.LOADCHUNK", "chunks", number, data)
            self.tally(b"BF.LOADCHUNK", reply)
        self.touch("chunks", source)
        self.client("DEL", "chunks")

    def tally(self, name, reply):
        self.names.setdefault(name, [0, 0])[isinstance(reply, Error)] += 1

    def step_once(self, step, source):
        """ONCE with commands of the server and ours, valid and invalid, new and repeated."""
        inner = source.choice((["SET", "text 1", step], ["INCRBY", "number", 1], ["SPOP", "set"],
                               ["SADD", "set", step % 20], ["HINCRBY", "hash", "a", "x"],
                               source.choice(self.commands).command(source)))
        self.tally(b"ONCE", self.client.ask("ONCE", f"window {source.randrange(3)}",
                                            source.randrange(100), *inner))

    def step_install(self, step, source):
        """A unit of an index under another number, or into another index; usually damaged."""
        key = f"index {source.randrange(2)}"
        frames = self.client.ask("INDEX.EXPORT", key, source.choice((1, 1, 2, 2, 5)))
        if isinstance(frames, Error) or not frames:
            return
        kind = source.random()
        if kind < 0.5:
            frames = resealed(frames, source.damaged_frames)
        elif kind < 0.7:
            frames = source.damaged(frames)
        if source.random() < 0.1:
            key = f"index {source.randrange(3)}"
        command = [b"INDEX.IMPORT", key, source.randrange(100), frames]
        self.tally(command[0], self.asked(step, command, self.client("DEBUG", "DIGEST")))

    def step_server(self, step, source):
        """The server's own commands on keys of any type."""
        one, two = (source.choice(self.commands).key(source) for _ in range(2))
        self.client.ask(*source.choice((["DEL", one], ["COPY", one, two, "REPLACE"],
                                        ["RENAME", one, two], ["UNLINK", one],
                                        ["MEMORY", "USAGE", one], ["INFO", "bloomery"],
                                        ["PEXPIRE", one, 10**8])))

    def furnish(self):
        """Fills keys that may be empty by now, so that there is something to damage; existing keys
        make some of these commands fail."""
        items = [f"field {i}" for i in range(300)]
        for command in (
                ["MAP.SET", "map 0", *(x for i in items for x in (i, i))],
                ["MAP.CREATE", "map 1", "ENGINE", "kbf", "CAPACITY", 500, "ERROR", "1%"],
                ["MAP.SET", "map 1", *(x for i in items for x in (i, "v"))],
                ["MAP.CREATE", "map 2", "RAW", 9],
                ["MAP.SET", "map 2", *(x for i in items for x in (i, 5))],
                ["WINDOW.CREATE", "window 0", "WINDOW", "1h"],
                ["WINDOW.ADD", "window 0", *items],
                ["WINDOW.CREATE", "window 1", "WINDOW", "1h", "ENGINE", "fbf"],
                ["WINDOW.ADD", "window 1", *items],
                ["WINDOW.CREATE", "window 2", "WINDOW", "60s", "EVENTTIME", "SKEW", "1d"],
                ["COUNTER.CREATE", "counter 0", "WINDOW", "1h"],
                ["COUNTER.INCRBY", "counter 0", *(x for i in items for x in (i, 1, i))],
                ["ONCE.CREATE", "window 2", "WINDOW", "1h"],
                ["ONCE", "window 0", "an id", "SET", "text 1", "x"],
                ["INDEX.CREATE", "index 0", "UNITS", 70, "CAPACITY", 100],
                ["INDEX.ADD", "index 0", 1, *items[:90]],
                ["INDEX.CREATE", "index 1", "UNITS", 70, "CAPACITY", 100, "ENGINE", "dba"],
                ["INDEX.ADD", "index 1", 2, *items[:90]],
                ["BF.MADD", "bf 0", *items],
                ["BF.RESERVE", "bf 1", 0.001, 1000, "NONSCALING"],
                ["BF.MADD", "bf 1", *items]):
            self.client.ask(*command)

    # ---- all of it ---------------------------------------------------------------------------

    @staticmethod
    def steps(most=COMMANDS, seconds=SECONDS):
        """Numbers of steps: for so many seconds, or if that is 0, so many."""
        end, step = time.monotonic() + seconds, 0
        while time.monotonic() < end if seconds else step < most:
            yield step
            step += 1

    def test_anything(self):
        source = Source(SEED)
        self.commands = self.grammars()
        self.names, self.payloads, self.loaded = {}, [0, 0], 0
        self.client("SET", "text", "not ours")
        self.client("RPUSH", "list", "not", "ours")
        with Server(**{"bloomery.map-capacity": "50", "bloomery.bf": "no"}) as other:
            self.follow(other)
            for step in self.steps():
                kind = source.random()
                if step % 300 == 0:
                    self.furnish()
                if kind < 0.6:
                    self.step_command(step, source)
                elif kind < 0.72:
                    self.step_restore(step, source)
                elif kind < 0.93:
                    self.step_frames(step, source)
                elif kind < 0.95:
                    self.step_chunks(step, source)
                elif kind < 0.97:
                    self.step_once(step, source)
                elif kind < 0.98:
                    self.step_install(step, source)
                else:
                    self.step_server(step, source)
                if step % 20_000 == 19_999:
                    self.compare(other)
            self.compare(other)
            self.restarts_as_it_is()
            connection = self.connect()
            self.assertEqual(connection("PING"), b"PONG")
        self.assertReached(step)

    def compare(self, other):
        self.wait_linked(other)
        self.caught_up()
        self.assertEqual(other.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))
        self.assertEqual(self.server.complaints() + other.complaints(), "")

    def assertReached(self, steps):
        """The steps had an effect: every command was tried and, if there were enough steps, refused
        once; most succeeded; payloads were refused and accepted, loads were finished."""
        print(f"{steps + 1} steps, payloads refused and taken: {self.payloads}, frames: {self.loaded}")
        never = 0
        for grammar in self.commands:
            done, refused = self.names.get(grammar.name, [0, 0])
            print(f"    {grammar.name.decode():18} {done:7} done {refused:7} refused")
            if steps >= 3999:  # then each command runs about forty times, eighteen of them invalid
                self.assertGreater(done + refused, 0, grammar.name)
                never += not done and grammar.arguments != []
            if steps >= 19_999:
                self.assertGreater(refused, 0, grammar.name)
        self.assertLess(never, len(self.commands) // 5)
        self.assertGreater(min(*self.payloads, self.loaded), steps // 2000)


if __name__ == "__main__":
    server_runner.main()
