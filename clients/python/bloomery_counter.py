"""Counters over a Redis or Valkey cluster that count each operation once, however often it is
retried. The servers have loaded bloomery.so. A single server works the same way.

    import bloomery_counter
    sales = bloomery_counter.create("redis://127.0.0.1:7000/sales", window=600)
    sales.add("tea", 3)               # Added(value=3, applied=True)
    sales.get("tea")                  # 3

add() retries by itself, always with the same id: after a timeout, a lost connection, a redirection
or a failover. It returns once the increment is counted and, by default, a replica has it too. It
raises Unknown if that took longer than `retry_for`: then nobody knows, and the program must not
count it again with another id.

Needs redis-py 4.3 or later. doc/exactly-once.md of Bloomery says what is promised.
"""

import collections
import dataclasses
import fcntl
import itertools
import json
import os
import random
import re
import secrets
import threading
import time
import zlib

from redis import exceptions as replies

import bloomery_nodes
from bloomery_nodes import BloomeryError, Mismatch, Missing, Nodes, place

__all__ = ["create", "open", "Table", "Added", "Operation", "Outbox", "BloomeryError",
           "CounterError", "Refused", "Unknown", "Mismatch", "Missing"]

PARTS_MAX = 1 << 20
SPAN_MAX = 1 << 52  # ms

Added = collections.namedtuple("Added", "value applied")
Added.__doc__ = """The value of the counter, and whether this call was applied: False for a repeat,
which is also what a retry gets whose first try was applied."""


class CounterError(BloomeryError):
    """The base of all errors of this file; also an error reply that has no class of its own."""


class Refused(CounterError):
    """The server refused the operation, and it is not counted; the message says why."""


class Unknown(CounterError):
    """Whether the operation is counted, and safe, is not known. `operation` can be given to
    repeat() while its window lasts."""

    def __init__(self, message, operation):
        super().__init__(f"it is unknown whether {operation.id} is counted: {message}")
        self.operation = operation


@dataclasses.dataclass(frozen=True)
class Operation:
    """Increments that belong together, and what identifies them in every retry."""
    id: str
    sent: int  # ms since 1970
    pairs: tuple  # (name, delta), …


# ---- ids --------------------------------------------------------------------------------------

class _Ids:
    """128 random bits for each process, and a sequence number."""

    def __init__(self):
        self.renew()
        os.register_at_fork(after_in_child=self.renew)

    def renew(self):
        self.process, self.numbers = secrets.token_hex(16), itertools.count(1)

    def next(self):
        return f"{self.process}-{next(self.numbers)}"


_ids = _Ids()


# ---- the record -------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Record(bloomery_nodes.Record):
    """What the record of a table says; the fields in the order of its text."""
    parts: int
    epoch: str
    window: int  # ms
    skew: int  # ms
    error: str
    engine: str
    capacity: int
    seed: int
    hot: str  # names of hot counters in hex, with commas between them; "-": none

    FIRST, WHAT, KEY = "bloomery-counters 1", "table", ":counters"

    def is_valid(self):
        self.hot_names()
        return 1 <= self.parts <= PARTS_MAX and self.capacity >= 1 and \
            0 <= self.skew <= self.window and self.engine in ("compact", "fbf") and \
            re.fullmatch("[0-9a-f]{16}", self.epoch)

    def hot_names(self):
        if self.hot == "-":
            return frozenset()
        return frozenset(bytes.fromhex(part) for part in self.hot.split(","))

    def options(self):
        """The options of each part."""
        return ("WINDOW", self.window, "SKEW", self.skew, "ERROR", self.error, "ENGINE",
                self.engine, "CAPACITY", max(64, 2 * self.capacity // self.parts), "SEED",
                self.seed)


def _bytes(name):
    return bloomery_nodes.to_bytes(name, "a name")


def _tag(name):
    """What chooses a counter's part: what is between the first braces, or all of the name."""
    start = name.find(b"{")
    end = name.find(b"}", start + 1) if start >= 0 else -1
    return name[start + 1:end] if end > start + 1 else name


# ---- the outbox -------------------------------------------------------------------------------

class Outbox:
    """A file with the operations that this program has begun. After a crash the next start repeats
    the unfinished ones, with their ids: Table(outbox=…), then recover()."""

    LARGE = 1 << 20

    def __init__(self, path):
        self.lock = threading.Lock()
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.file)
            raise CounterError(f"another process uses the outbox {path}") from None
        self.open = self._read()
        self._rewrite()

    def _read(self):
        with os.fdopen(os.dup(self.file), "rb") as file:
            file.seek(0)
            lines = file.read().split(b"\n")
        begun = {}
        for number, line in enumerate(lines[:-1]):  # what follows the last newline is incomplete
            try:
                entry = json.loads(line)
                if "done" in entry:
                    begun.pop(entry["done"], None)
                else:
                    pairs = tuple((bytes.fromhex(name), delta) for name, delta in entry["pairs"])
                    begun[entry["id"]] = Operation(entry["id"], entry["sent"], pairs)
            except (ValueError, KeyError, TypeError):
                raise CounterError(f"line {number + 1} of the outbox is damaged") from None
        return begun

    @staticmethod
    def _line(operation):
        pairs = [(name.hex(), delta) for name, delta in operation.pairs]
        return json.dumps({"id": operation.id, "sent": operation.sent, "pairs": pairs}) + "\n"

    def _rewrite(self):
        os.ftruncate(self.file, 0)
        self._append("".join(map(self._line, self.open.values())))

    def _append(self, text, sync=True):
        data = text.encode()
        while data:
            data = data[os.write(self.file, data):]
        if sync:
            os.fdatasync(self.file)

    def begin(self, operation):
        """Called before it is sent."""
        with self.lock:
            self._append(self._line(operation))
            self.open[operation.id] = operation

    def end(self, operation):
        """Not synced: an operation that is repeated once more is recognised."""
        with self.lock:
            self.open.pop(operation.id, None)
            if not self.open and os.fstat(self.file).st_size > self.LARGE:
                os.ftruncate(self.file, 0)
            else:
                self._append(json.dumps({"done": operation.id}) + "\n", sync=False)

    def close(self):
        os.close(self.file)


# ---- the table --------------------------------------------------------------------------------

class Table:
    """A table of counters that exists. create() and open() return one. It may be used by several
    threads.

    wait: replicas that must have an increment before add() returns; fewer are tried again.
    retry_for: seconds after which add() gives up and raises Unknown; less than the window."""

    FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.5

    def __init__(self, nodes, name, record, *, wait=1, wait_for=0.5, retry_for=None, outbox=None):
        self.nodes, self.name, self.record = nodes, name, record
        horizon = (record.window - record.skew) / 1000
        self.wait, self.wait_for = wait, wait_for
        self.retry_for = min(30.0, horizon / 2) if retry_for is None else retry_for
        if self.retry_for > horizon:
            raise ValueError(f"retry_for is longer than the table's window less its skew, "
                             f"{horizon} s: a late retry would not be recognised")
        self.hot = record.hot_names()
        self.outbox = Outbox(outbox) if isinstance(outbox, (str, os.PathLike)) else outbox

    # Where a counter is.

    def _part(self, by):
        return f"{{{self.name}:{zlib.crc32(by) % self.record.parts}}}:{self.record.epoch}"

    def _key(self, operation):
        names = [name for name, _ in operation.pairs]
        if any(name in self.hot for name in names):
            if len(names) > 1:
                raise ValueError("a hot counter is spread over all parts: add to it by itself")
            return self._part(operation.id.encode())
        if len(set(names)) < len(names):
            raise ValueError("a counter occurs twice: its second increment would be taken for a "
                             "repeat of the first")
        keys = {self._part(_tag(name)) for name in names}
        if len(keys) > 1:
            raise ValueError("these counters are in different parts of the table: give their "
                             "names the same {tag}")
        return keys.pop()

    # Counting.

    def add(self, name, delta=1):
        """Adds delta to a counter, once. Returns Added(value, applied). Refused: it is not
        counted. Unknown: see the class."""
        return self.add_many([(name, delta)])[0]

    def add_many(self, pairs):
        """Adds to several counters, all or none. pairs: a dict, or (name, delta), …. The counters
        must be in one part of the table: names with the same {tag} are."""
        pairs = list(pairs.items() if hasattr(pairs, "items") else pairs)
        operation = Operation(_ids.next(), time.time_ns() // 10**6,
                              tuple((_bytes(name), int(delta)) for name, delta in pairs))
        if not pairs:
            return []
        self._key(operation)  # raises before anything is sent
        if self.outbox:
            self.outbox.begin(operation)
        return self.repeat(operation, first=True)

    def recover(self):
        """Repeats what the program that used the outbox before has begun and not finished. Returns
        a list of (operation, list of Added, or the exception)."""
        done = []
        for operation in list(self.outbox.open.values()):
            try:
                done.append((operation, self.repeat(operation)))
            except CounterError as error:
                done.append((operation, error))
        return done

    def repeat(self, operation, first=False):
        """Tries an operation until it is counted and confirmed. Returns a list of Added."""
        try:
            added = self._until_counted(operation, first)
        except Refused:
            self._finish(operation)
            raise
        self._finish(operation)
        return added

    def _finish(self, operation):
        if self.outbox:
            self.outbox.end(operation)

    def _until_counted(self, operation, first):
        key, asked, uncertain = self._key(operation), None, not first
        end, pause = time.monotonic() + self.retry_for, self.FIRST_PAUSE
        while True:
            reply, replicas = self._try(key, operation, asked)
            asked = None
            if not isinstance(reply, Exception) and replicas >= self.wait:
                return self._added(reply)
            if isinstance(reply, replies.AskError):  # also the base of MovedError
                redirect = {}
                self.nodes._redirect(reply, 0, key, redirect)
                asked = redirect.get(0)
            elif isinstance(reply, Exception) and not isinstance(reply, Nodes.RETRIED):
                # A try without a reply may still be under way, and be counted later.
                raise Unknown(str(reply), operation) if uncertain else Refused(str(reply))
            else:
                uncertain |= not isinstance(reply, replies.ResponseError)
                time.sleep(random.uniform(pause / 2, pause))
                pause = min(2 * pause, self.LONGEST_PAUSE)
                if isinstance(reply, Exception):
                    self.nodes._refresh()
            if time.monotonic() > end:
                raise Unknown(str(reply) if isinstance(reply, Exception) else
                              f"{replicas} of {self.wait} replicas have it", operation)

    def _command(self, key, operation):
        triples = [word for name, delta in operation.pairs for word in (name, delta, operation.id)]
        return ("COUNTER.INCRBY", key, *triples, "SENT", operation.sent)

    def _added(self, reply):
        return [Added(value, applied == 1) for value, applied in reply]

    def _try(self, key, operation, asked):
        """(reply or exception, replicas that have it). WAIT goes down the same connection in the
        same write: on another one it would wait for something else."""
        sent = ([("ASKING",)] if asked else []) + [self._command(key, operation)]
        if self.wait:
            sent.append(("WAIT", self.wait, int(self.wait_for * 1000)))
        pool, connection = None, None
        try:
            pool = asked or self.nodes._pool(key)
            connection = pool.get_connection("COUNTER")
            connection.send_packed_command(connection.pack_commands(sent))
            got = [self.nodes._read(connection) for _ in sent]
        except Nodes.RETRIED as error:
            if connection:
                connection.disconnect()
            return error, 0
        finally:
            if connection:
                pool.release(connection)
        replicas = got.pop() if self.wait else 0
        if isinstance(replicas, Exception) and not isinstance(got[-1], Exception):
            return replies.ConnectionError(f"WAIT: {replicas}"), 0
        return got[-1], replicas

    # Reading.

    def get(self, name):
        """The value of a counter; None if it does not exist."""
        return self.get_many([name])[0]

    def get_many(self, names):
        """The values of counters, None for those that do not exist."""
        names = [_bytes(name) for name in names]
        groups = collections.defaultdict(list)
        for i, name in enumerate(names):
            every = range(self.record.parts) if name in self.hot else ()
            for key in [f"{{{self.name}:{p}}}:{self.record.epoch}" for p in every] or \
                    [self._part(_tag(name))]:
                groups[key].append(i)
        commands = [("COUNTER.GET", key, *(names[i] for i in group))
                    for key, group in groups.items()]
        values = [None] * len(names)
        for group, reply in zip(groups.values(), self.nodes.run(commands)):
            if isinstance(reply, Exception):
                raise CounterError(str(reply))
            for i, value in zip(group, reply):
                if value is not None:
                    values[i] = (values[i] or 0) + value
        return values

    def info(self):
        """What the whole table holds: a dict."""
        total = dataclasses.asdict(self.record) | {"name": self.name}
        sums = dict.fromkeys(("counters", "ids", "applied", "repeats", "bytes", "refused_full",
                              "refused_overflow"), 0)
        lost = 0.0
        for reply in self.nodes.run([("COUNTER.INFO", f"{{{self.name}:{i}}}:{self.record.epoch}")
                                     for i in range(self.record.parts)]):
            if isinstance(reply, Exception):
                raise CounterError(str(reply))
            part = {key.decode(): value for key, value in zip(reply[::2], reply[1::2])}
            lost += float(part["expected_lost"])
            for field in sums:
                sums[field] += int(part[field])
        return total | sums | {"expected_lost": lost}

    def drop(self):
        """Deletes the table: its record first, then its parts."""
        self.nodes.run([("DEL", f"{{{self.name}}}:counters")])
        self.nodes.run([("UNLINK", f"{{{self.name}:{i}}}:{self.record.epoch}")
                        for i in range(self.record.parts)])


# ---- creating and opening ---------------------------------------------------------------------

def open(where, name=None, *, timeout=2.0, **how):  # pylint: disable=redefined-builtin
    """Opens a table that exists. where: a URL with the name, or a redis.Redis or RedisCluster,
    which should have a socket_timeout. how: wait, wait_for, retry_for, outbox (class Table)."""
    nodes, name = place(where, name, "table", timeout)
    reply = nodes.run([("GET", f"{{{name}}}:counters")])[0]
    if reply is None:
        raise Missing(f"there is no table {name!r}")
    if isinstance(reply, Exception):
        raise CounterError(str(reply))
    return Table(nodes, name, Record.parse(name, reply), **how)


def _check_options(window, skew, error, engine, capacity, parts, seed):
    """Before anything is created."""
    check = bloomery_nodes.check_number
    most = SPAN_MAX / 1000
    check("window", window, 0.002, most, "0.002 to 2^52 / 1000 seconds", whole=False)
    check("skew", skew, 0.001, most, "0.001 to 2^52 / 1000 seconds", whole=False)
    if skew is not None and skew >= (600 if window is None else window):
        raise ValueError("skew is shorter than window")
    check("error", error, 1e-12, 0.5, "1e-12 to 0.5", whole=False)
    if engine not in (None, "compact", "fbf"):
        raise ValueError(f"there is no engine {engine!r}")
    check("capacity", capacity, 1, 1 << 40, "1 to 2^40")
    check("parts", parts, 1, PARTS_MAX, "1 to 2^20")
    check("seed", seed, 1, 2**64 - 1, "1 to 2^64 - 1")


def create(where, name=None, *, window=None, skew=None, error=None, engine=None, capacity=None,
           parts=None, hot=None, seed=None, timeout=2.0, **how):
    """Creates a table, or opens the one that exists if nothing that is given differs from it (else
    Mismatch). window: seconds for which a retry is recognised (default 600); skew: seconds that
    clients' clocks may be off (1); error: share of increments that may be lost (1e-9); engine:
    compact or fbf; capacity: operations per window to plan for (10^6); parts: instead of 16 per
    primary; hot: names of counters that are spread over all parts, because one part would be too
    busy. how: see open()."""
    nodes, name = place(where, name, "table", timeout)
    _check_options(window, skew, error, engine, capacity, parts, seed)
    span = round((600 if window is None else window) * 1000)
    most = min(1000, span // 4 + 1)
    record = Record(
        parts=int(parts or 16 * len(nodes.primaries())), epoch=secrets.token_hex(8), window=span,
        skew=most if skew is None else round(skew * 1000), error=repr(float(error or 1e-9)),
        engine=engine or "compact", capacity=int(capacity or 10**6),
        seed=int(seed or secrets.randbits(64) or 1),
        hot=",".join(sorted(_bytes(each).hex() for each in hot or ())) or "-")
    key = f"{{{name}}}:counters"
    there = nodes.run([("GET", key)])[0]
    if there is None:
        # The parts come first: nobody counts in a table that is incomplete. If the creation fails
        # here, they are left without a record, and another epoch is used next time.
        made = nodes.run([("COUNTER.CREATE", f"{{{name}:{i}}}:{record.epoch}", *record.options())
                          for i in range(record.parts)])
        for reply in made:
            if isinstance(reply, Exception) and not str(reply).startswith("BUSYKEY"):
                raise CounterError(str(reply))
        there = nodes.run([("SET", key, record.text(), "NX", "GET")])[0]
        if there is not None:  # another client was first
            nodes.run([("UNLINK", f"{{{name}:{i}}}:{record.epoch}")
                       for i in range(record.parts)])
    if isinstance(there, Exception):
        raise CounterError(str(there))
    if there is None or there == record.text().encode():
        return Table(nodes, name, record, **how)
    old = Record.parse(name, there)
    given = [("window", window and record.window, old.window),
             ("skew", skew and record.skew, old.skew), ("error", error, float(old.error)),
             ("engine", engine, old.engine), ("capacity", capacity, old.capacity),
             ("parts", parts, old.parts), ("seed", seed, old.seed),
             ("hot", hot and record.hot, old.hot)]
    for what, wanted, has in given:
        if wanted is not None and wanted != has:
            differs = "another seed" if what == "seed" else f"{what} {has}, not {wanted}"
            raise Mismatch(f"table {name!r} exists with {differs}")
    return Table(nodes, name, old, **how)
