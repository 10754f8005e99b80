"""A distributed map: pairs of a key and a small value, spread over a Redis or Valkey cluster whose
servers have loaded bloomery.so. A single server works the same way.

    import bloomery_map
    routes = bloomery_map.create("redis://127.0.0.1:7000/routes", capacity=2_000_000, raw=12)
    routes.set("10.0.0.1", 7)
    routes.get("10.0.0.1")            # 7; None if absent; UNSURE if engine kbf cannot tell

Needs redis-py 4.3 or later. README.md beside this file explains it; doc/cluster.md of Bloomery
says how a map is stored.
"""

import collections
import dataclasses
import hashlib
import hmac
import math
import re
import secrets
import threading
import time
import zlib

from redis import exceptions as replies

import bloomery_nodes
from bloomery_nodes import BloomeryError, Mismatch, Missing, Nodes, NotConfirmed, connect

__all__ = ["create", "open", "names", "connect", "Map", "UNSURE", "Unsure", "BloomeryError",
           "MapError", "Full", "Mismatch", "Missing", "NotConfirmed"]

MapError = BloomeryError  # another name of it

REREAD = 60.0     # seconds after which the record of a map is read again
CHUNK = 20000     # keys per exchange
VALUE_MAX = 65535  # bytes
SLABS_MAX = 1 << 24
CAPACITY_MAX = 1 << 40
BITS_MAX = {"compact": 32, "kbf": 13}  # of integers
CODE_BITS_MAX = {"compact": 24, "kbf": 13}  # of byte strings' codes


class Full(MapError):
    """A limit is reached; the message names it."""


class Unsure:
    """The type of UNSURE, an answer of engine kbf: the key may have any value or none. It has no
    truth value, so that `if answer:` does not take it for one."""

    def __repr__(self):
        return "UNSURE"

    def __bool__(self):
        raise TypeError("the map is unsure about this key: compare with `is UNSURE`")


UNSURE = Unsure()


# ---- the record -------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Record(bloomery_nodes.Record):
    """What a map's record says; the fields in the order of its text."""
    slabs: int
    epoch: str
    pick: str
    values: str
    engine: str
    capacity: int
    error: str
    seed: int

    FIRST, WHAT, KEY = "bloomery-map 1", "map", ":map"

    def is_valid(self):
        return 1 <= self.slabs <= SLABS_MAX and self.capacity >= 1 and self.seed >= 1 and \
            self.engine in BITS_MAX and re.fullmatch("[0-9a-f]{16}", self.epoch) and \
            re.fullmatch(r"crc32|hmac-sha256:[0-9a-f]{32}", self.pick) and \
            re.fullmatch(r"(raw|codes):[0-9]+", self.values) and 0 < float(self.error) < 1 and \
            1 <= self.bits <= BITS_MAX["compact"]

    @property
    def bits(self):
        return int(self.values.partition(":")[2])

    @property
    def is_raw(self):
        return self.values.startswith("raw:")

    def slab_options(self):
        """The options of every slab."""
        pairs = self.capacity / self.slabs
        return ("CAPACITY", max(64, math.ceil(pairs + 4 * math.sqrt(pairs))), "ERROR", self.error,
                "ENGINE", self.engine, "RAW", self.bits, "SEED", self.seed)

    def chooser(self):
        """The function that says to which slab a key belongs."""
        slabs = self.slabs
        if self.pick == "crc32":
            return lambda key: zlib.crc32(key) % slabs
        secret = bytes.fromhex(self.pick.partition(":")[2])
        return lambda key: int.from_bytes(
            hmac.new(secret, key, hashlib.sha256).digest()[:8], "big") % slabs


def plan_slabs(capacity, error, engine, primaries):
    """Slabs of 10^6 pairs and 16 MB at most, and 32 per primary at least."""
    pairs = 10**6
    if engine == "kbf":
        pairs = min(pairs, 16e6 / (7 * (1 + math.log10(1 / error))))
    return max(32 * primaries, math.ceil(capacity / pairs))


# ---- byte strings -----------------------------------------------------------------------------

class Codes:
    """The byte strings of a map. Slabs hold their codes, which are positions in a list that only
    grows. `known` holds only entries that no failover loses: replicas have confirmed them to us,
    or a slab holds a code as high, which its writer had confirmed."""

    def __init__(self, nodes, key, bits, has_slabs):
        self.nodes, self.key, self.most, self.has_slabs = nodes, key, 1 << bits, has_slabs
        self.lock = threading.Lock()
        self.known, self.code_of = [], {}

    def _ask(self, *command, **options):
        reply = self.nodes.run([command], key=self.key, **options)[0]
        if isinstance(reply, Exception):
            raise _error_of(reply)
        return reply

    def _read_until(self, end):
        """Reads entries, no further than to one that is known to be confirmed."""
        for value in self._ask("LRANGE", self.key, len(self.known), end - 1):
            self.code_of.setdefault(value, len(self.known))
            self.known.append(value)

    def values_of(self, codes):
        """The values of codes that slabs hold; None for a code that was never given."""
        with self.lock:
            if codes and max(codes) >= len(self.known):
                self._read_until(max(codes) + 1)
        return [self.known[code] if code < len(self.known) else None for code in codes]

    def codes_for(self, values):
        """The codes of these values; those without one get one."""
        with self.lock:
            wanted = [value for value in dict.fromkeys(values) if value not in self.code_of]
            for attempt in range(10) if wanted else ():
                try:
                    self._give(wanted)
                    break
                except Nodes.RETRIED:
                    if attempt == 9:
                        raise
                    time.sleep(0.05 * attempt)
        return [self.code_of[value] for value in values]

    def _push(self, values, end, need):
        """Adds to a list of `end` entries; returns its length. A list must never start over: if
        its node failed over while its slot was moving, it may seem to be missing."""
        if end == 0 and self.has_slabs() and self._ask("LLEN", self.key) == 0:
            raise MapError(f"the list {self.key} is missing, though slabs have values: "
                           "see bloomery cluster balance --repair")
        length = self._ask("RPUSHX" if end else "RPUSH", self.key, *values, wait=need)
        if length < end + len(values):
            raise MapError(f"the list {self.key} has {length} entries, {end} were read before")
        return length

    def _give(self, wanted):
        start = len(self.known)
        rest = self._ask("LRANGE", self.key, start, -1)
        online = re.findall(rb"^slave\d+:.*state=online", self._ask("INFO", "replication"), re.M)
        need = len(online) or min(1, self.nodes.count_replicas(self.key))
        there, end = set(rest), start + len(rest)
        missing = [value for value in wanted if value not in there]
        if missing:
            if end + len(missing) > self.most:
                raise Full(f"the map has used {end} of its {self.most} codes for values")
            end = self._push(missing, end, need)
        else:
            # Another client has pushed them. WAIT covers them if it follows a write of ours, which
            # must not reach another node: that may have lost what was read here.
            first = self.known[0] if start else rest[0]
            self._ask("LSET", self.key, 0, first, wait=need, follow=start > 0)
        self._read_until(end)
        if any(value not in self.code_of for value in wanted):
            raise replies.ConnectionError("the list of values has changed meanwhile")


# ---- the map ----------------------------------------------------------------------------------

class Map:
    """A map that exists. create() and open() return one. It may be used by several threads."""

    def __init__(self, nodes, name, record):
        self.nodes, self.name, self._dropped = nodes, name, False
        self._adopt(record)

    def _adopt(self, record):
        self.record, self.read_at = record, time.monotonic()
        self._slab_of = record.chooser()
        self._codes = None if record.is_raw else Codes(
            self.nodes, f"{{{self.name}}}:values:{record.epoch}", record.bits, self._has_slabs)

    def _slab(self, i):
        return f"{{{self.name}:{i}}}:{self.record.epoch}"

    def _has_slabs(self):
        return any(1 in self.nodes.run([("EXISTS", self._slab(i)) for i in range(start, min(
            start + CHUNK, self.record.slabs))]) for start in range(0, self.record.slabs, CHUNK))

    def _reread(self):
        """Reads the record again; true if it has changed."""
        record = _read_record(self.nodes, self.name)
        self._dropped = False  # and created again, by whomever
        changed = record != self.record
        if changed or self.record.engine == "kbf":  # which may have shown us a code by error
            self._adopt(record)
        self.read_at = time.monotonic()
        return changed

    def _command(self, verb):
        """(command, its words before the fields)."""
        return {"get": ("MAP.GET", ()),
                "set": ("MAP.INSERT", (*self.record.slab_options(), "FIELDS")),
                "update": ("MAP.INSERT", ("XX", "FIELDS")),
                "delete": ("MAP.REMOVE", ("DROPEMPTY", "FIELDS"))}[verb]

    def _many(self, verb, fields, wait=0):
        """Runs a command on many fields, a list of (key, arguments after it …). Returns an answer
        for each, in order."""
        if self._dropped or time.monotonic() - self.read_at > REREAD:
            self._reread()
        answers = []
        for start in range(0, len(fields), CHUNK):
            chunk = fields[start:start + CHUNK]
            try:
                answers += self._chunk(verb, chunk, wait)
            except Mismatch:
                if not self._reread():
                    raise
                answers += self._chunk(verb, chunk, wait)
        return answers

    def _chunk(self, verb, fields, wait):
        keys = [bloomery_nodes.to_bytes(key, "a key") for key, *_ in fields]
        more = self._encoded([rest for _, *rest in fields])
        groups = collections.defaultdict(list)
        for i, key in enumerate(keys):
            groups[self._slab_of(key)].append(i)
        command, options = self._command(verb)
        commands = [(command, self._slab(slab), *options,
                     *(word for i in group for word in (keys[i], *more[i])))
                    for slab, group in groups.items()]
        answers = [None] * len(fields)
        for group, reply in zip(groups.values(), self.nodes.run(commands, wait)):
            if isinstance(reply, Exception):
                raise _error_of(reply)
            for i, answer in zip(group, reply):
                if isinstance(answer, Exception):
                    if not str(answer).startswith("UNSURE"):
                        raise _error_of(answer)
                    answer = UNSURE
                answers[i] = answer
        return answers

    def _encoded(self, values):
        """The arguments for values: numbers, or codes of byte strings."""
        if not values or not values[0]:
            return values
        if self._codes is None:
            for (value,) in values:
                if type(value) is bool or not isinstance(value, int) or \
                        not 0 <= value < 1 << self.record.bits:
                    raise ValueError(f"{value!r} is not an integer of {self.record.bits} bits")
            return values
        raw = [bloomery_nodes.to_bytes(value, "a value of this map") for (value,) in values]
        if any(len(value) > VALUE_MAX for value in raw):
            raise ValueError(f"a value has more than {VALUE_MAX} bytes")
        return [(code,) for code in self._codes.codes_for(raw)]

    @staticmethod
    def _keys(keys):
        if isinstance(keys, (str, bytes)):
            raise TypeError("expected several keys, not one")
        return [(key,) for key in keys]

    @staticmethod
    def _pairs(pairs):
        return list(pairs.items() if hasattr(pairs, "items") else pairs)

    @staticmethod
    def _truths(answers):
        return [answer if answer is UNSURE else answer == 1 for answer in answers]

    def set_many(self, pairs, wait=0):
        """Sets pairs, given as a dict or as an iterable of (key, value). Returns a list: True for
        each new key, False for the others, UNSURE for those that stay as they were. wait: number
        of replicas that must confirm, else NotConfirmed."""
        return self._truths(self._many("set", self._pairs(pairs), wait))

    def get_many(self, keys):
        """Returns a list with the value, None or UNSURE for each key."""
        found = self._many("get", self._keys(keys))
        if self._codes is None:
            return found
        there = [i for i, code in enumerate(found) if code is not None and code is not UNSURE]
        values = self._codes.values_of([found[i] for i in there])
        for i, value in zip(there, values):
            if value is None and self.record.engine != "kbf":
                raise MapError(f"code {found[i]} is not in the list of values {self._codes.key}")
            found[i] = value
        return found

    def update_many(self, pairs, wait=0):
        """Sets the values of keys that exist. Returns True for each of them."""
        return self._truths(self._many("update", self._pairs(pairs), wait))

    def delete_many(self, keys, wait=0):
        """Deletes keys. Returns True for each that existed."""
        return self._truths(self._many("delete", self._keys(keys), wait))

    def set(self, key, value, wait=0):
        return self.set_many([(key, value)], wait)[0]

    def get(self, key):
        return self.get_many([key])[0]

    def update(self, key, value, wait=0):
        return self.update_many([(key, value)], wait)[0]

    def delete(self, key, wait=0):
        return self.delete_many([key], wait)[0]

    def info(self):
        """What the whole map holds: a dict. README.md explains its keys."""
        if self._dropped:
            self._reread()
        total = dataclasses.asdict(self.record) | {"name": self.name, "slabs_used": 0}
        sums = dict.fromkeys(("items", "bytes", "queries", "refused_unsure"), 0)
        worst = {}
        for start in range(0, self.record.slabs, CHUNK):
            chunk = range(start, min(start + CHUNK, self.record.slabs))
            for reply in self.nodes.run([("MAP.INFO", self._slab(i)) for i in chunk]):
                if isinstance(reply, Exception):
                    if "no such" in str(reply) or "does not exist" in str(reply):
                        continue
                    raise _error_of(reply)
                pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2])
                slab = {key.decode(): value for key, value in pairs}
                total["slabs_used"] += 1
                for field in sums:
                    sums[field] += int(slab.get(field, 0))
                for field in slab:
                    if field.startswith(("planned_", "estimated_")):
                        worst[field] = max(worst.get(field, 0.0), float(slab[field]))
        if self._codes is not None:
            total["different_values"] = self.nodes.run([("LLEN", self._codes.key)])[0]
        return total | sums | worst

    def drop(self):
        """Deletes the map: its record first, then its slabs and values. Afterwards every call
        raises Missing, unless a map of this name was created again."""
        if self._dropped:
            self._reread()
        keys = [self._slab(i) for i in range(self.record.slabs)]
        if self._codes is not None:
            keys.append(self._codes.key)
        self._dropped = True
        self.nodes.run([("DEL", f"{{{self.name}}}:map")])
        for start in range(0, len(keys), CHUNK):
            for reply in self.nodes.run([("UNLINK", key) for key in keys[start:start + CHUNK]]):
                if isinstance(reply, Exception):
                    raise _error_of(reply)


def _error_of(reply):
    """The error of this file for an error reply."""
    word = str(reply).split(" ")[0]
    return {"FULL": Full, "MISMATCH": Mismatch}.get(word, MapError)(str(reply))


def _read_record(nodes, name):
    reply = nodes.run([("GET", f"{{{name}}}:map")])[0]
    if reply is None:
        raise Missing(f"there is no map {name!r}")
    if isinstance(reply, Exception):
        raise _error_of(reply)
    return Record.parse(name, reply)


def open(where, name=None):  # pylint: disable=redefined-builtin
    """Opens a map that exists. where: a URL with the name, or a redis.Redis or RedisCluster."""
    nodes, name = bloomery_nodes.place(where, name, "map")
    return Map(nodes, name, _read_record(nodes, name))


def _check_options(capacity, error, engine, raw, values, slabs, seed):
    """What the servers would refuse with every pair, and what no client could read again."""
    if raw is not None and values is not None:
        raise ValueError("raw and values exclude each other")
    if engine not in BITS_MAX:
        raise ValueError(f"there is no engine {engine!r}")
    check = bloomery_nodes.check_number
    check("capacity", capacity, 1, CAPACITY_MAX, "1 to 2^40")
    check("error", error, 1e-9, 0.5, "1e-09 to 0.5", whole=False)
    check("raw", raw, 1, BITS_MAX[engine], "1 to 32 (kbf: 13)")
    check("values", values, 1, 1 << CODE_BITS_MAX[engine], "1 to 2^24 (kbf: 2^13)")
    check("slabs", slabs, 1, SLABS_MAX, "1 to 2^24")
    check("seed", seed, 1, 2**64 - 1, "1 to 2^64 - 1")


def create(where, name=None, *, capacity=None, error=None, engine=None, raw=None, values=None,
           slabs=None, keyed=None, seed=None):
    """Creates a map, or opens the one that exists if nothing that is given differs from it (else
    Mismatch). capacity: pairs to plan for (default 10^6); error: share of wrong answers (0.001);
    engine: compact or kbf; raw: values are integers of this many bits; values: they are byte
    strings, of which this many differ (the default, 1000); slabs: instead of planned ones; keyed:
    slabs are chosen with a secret key, for keys that an adversary may choose; seed: of the hash
    function (random)."""
    nodes, name = bloomery_nodes.place(where, name, "map")
    _check_options(capacity, error, engine or "compact", raw, values, slabs, seed)
    most = CODE_BITS_MAX[engine or "compact"]
    bits = int(raw or min(most, max(8, (4 * int(values or 1000) - 1).bit_length())))
    record = Record(
        slabs=int(slabs or plan_slabs(capacity or 10**6, error or 0.001, engine,
                                      len(nodes.primaries()))),
        epoch=secrets.token_hex(8), pick=f"hmac-sha256:{secrets.token_hex(16)}" if keyed
        else "crc32", values=f"{'raw' if raw else 'codes'}:{bits}", engine=engine or "compact",
        capacity=int(capacity or 10**6), error=repr(float(error or 0.001)),
        seed=int(seed or secrets.randbits(64) or 1))
    there = nodes.run([("SET", f"{{{name}}}:map", record.text(), "NX", "GET")])[0]
    if isinstance(there, Exception):
        raise _error_of(there)
    if there is None:
        return Map(nodes, name, record)
    old = Record.parse(name, there)
    given = [("capacity", capacity, old.capacity), ("slabs", slabs, old.slabs),
             ("error", error, float(old.error)), ("engine", engine, old.engine),
             ("seed", seed, old.seed), ("keyed", keyed, old.pick != "crc32"),
             ("values", (raw or values) and record.values, old.values)]
    for what, wanted, has in given:
        if wanted is not None and wanted != has:
            differs = "another seed" if what == "seed" else f"{what} {has}, not {wanted}"
            raise Mismatch(f"map {name!r} exists with {differs}")
    return Map(nodes, name, old)


def names(where):
    """The names of all maps that this user may read, sorted. where: a URL, or a redis.Redis or RedisCluster."""
    nodes = Nodes(connect(where)[0] if isinstance(where, str) else where)
    keys = {key if isinstance(key, bytes) else key.encode() for node in nodes.primaries()
            for key in node.scan_iter(match="{*}:map", count=1000, _type="string")}
    keys = [key for key in sorted(keys) if re.fullmatch(rb"\{[^{}]{1,200}\}:map", key)]
    records = nodes.run([("GET", key) for key in keys])
    return [key[1:-5].decode() for key, record in zip(keys, records)
            if isinstance(record, bytes) and record.startswith(b"bloomery-map ")]
