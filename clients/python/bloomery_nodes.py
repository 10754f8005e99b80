"""Connections to a Redis or Valkey cluster, or to a single server: commands go to the owners of
their keys, many at once, and follow redirections. What the other clients here are built on.

Needs redis-py 4.3 or later.
"""

import collections
import contextlib
import dataclasses
import logging
import os
import re
import time
import urllib.parse

import redis
from redis import exceptions as replies
from redis.cluster import RedisCluster

logging.getLogger("redis").addHandler(logging.NullHandler())  # it reports each redirection


class BloomeryError(Exception):
    """The base of all errors of these clients; also an error reply that has no class of its own."""


class Missing(BloomeryError):
    """There is nothing of this name."""


class Mismatch(BloomeryError):
    """Something of this name exists, with other options."""


class NotConfirmed(BloomeryError):
    """Fewer replicas than wanted have confirmed a write in time."""


def to_bytes(value, what):
    """The bytes of a key, value or name. Numbers are refused: bytes(5) would be five zeros."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"{what} is str or bytes, not {type(value).__name__}")


def check_number(name, value, least, most, limits, whole=True):
    """Refuses an option that is not a number from least to most, which `limits` says in words.
    None means that the option is not given."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number, not {value!r}")
    if not least <= value <= most or (whole and value != int(value)):
        raise ValueError(f"{name} is {'a whole number, ' if whole else ''}{limits}, not {value!r}")


class Record:
    """The base of records, which are dataclasses: one line of text, FIRST and then name=value for
    each field, in order."""

    FIRST = WHAT = None  # the beginning of the line; what it describes, for messages
    KEY = None  # the end of the key's name, after {NAME}

    def text(self):
        pairs = [f"{field.name}={getattr(self, field.name)}" for field in dataclasses.fields(self)]
        return " ".join([self.FIRST, *pairs])

    def is_valid(self):
        raise NotImplementedError

    @classmethod
    def parse(cls, name, text):
        try:
            words = text.decode("ascii").split(" ")
            given = dict(word.split("=", 1) for word in words[2:])
            fields = dataclasses.fields(cls)
            if " ".join(words[:2]) != cls.FIRST or list(given) != [each.name for each in fields]:
                raise ValueError
            record = cls(**{each.name: each.type(given[each.name]) for each in fields})
            if not record.is_valid():
                raise ValueError
            return record
        except ValueError:
            key = f"{{{name}}}{cls.KEY}"
            raise BloomeryError(f"the {cls.WHAT} {name!r} was made by a newer Bloomery, or its "
                                f"record is damaged (if damaged, DEL {key} removes it): "
                                f"{text[:200]!r}") from None


class Nodes:
    """Sends commands to the owners of their keys, and repeats those that were redirected."""

    RETRIED = (replies.ConnectionError, replies.TimeoutError, replies.MovedError,
               replies.AskError, replies.TryAgainError, replies.ClusterDownError,
               replies.MasterDownError, replies.ReadOnlyError)

    def __init__(self, client):
        self.client = client
        self.patience = 30.0  # seconds for redirections and failovers
        self.wait_for = 4.0  # seconds for replicas; less than the timeout of connections
        self.is_cluster = isinstance(client, RedisCluster)
        self.moved = {}  # slot → node, until the table of slots is read again

    def primaries(self):
        if not self.is_cluster:
            return [self.client]
        return [self.client.get_redis_connection(node) for node in self.client.get_primaries()]

    def count_replicas(self, key):
        """The number of replicas that the cluster has for the shard of a key, as it is now."""
        if not self.is_cluster:
            return 0
        self._refresh()
        owners = self.client.nodes_manager.slots_cache.get(self.client.keyslot(key), [None])
        return len(owners) - 1

    def run(self, commands, wait=0, key=None, follow=True):
        """Sends commands, those of one node in one write. Returns the replies in order; error
        replies are among them. The key of a command is its second word, unless `key` is given.
        With wait, each write ends with WAIT, on the same connection, and NotConfirmed is raised
        if that many replicas did not confirm it. Without follow, a redirection is raised too."""
        answers, asked, confirmed = [None] * len(commands), {}, wait
        end, pause, todo = time.monotonic() + self.patience, 0.01, range(len(commands))
        while todo:
            batches, again, failed = collections.defaultdict(list), [], None
            for i in todo:
                batches[asked.get(i) or self._pool(key or commands[i][1])].append(i)
            for i, reply, replicas in self._exchange(commands, batches, asked, wait):
                confirmed = min(confirmed, replicas)
                asked.pop(i, None)
                if not isinstance(reply, self.RETRIED):
                    answers[i] = reply
                    continue
                again.append(i)
                if not follow or isinstance(reply, replies.AuthenticationError):
                    raise reply
                if isinstance(reply, replies.AskError):  # also the base of MovedError
                    self._redirect(reply, i, key or commands[i][1], asked)
                else:
                    failed = reply
            todo = sorted(again)
            if todo and time.monotonic() > end:
                raise failed or BloomeryError("the cluster redirects without end")
            if failed:
                time.sleep(pause)
                pause = min(2 * pause, 0.25)
                self._refresh()
        if confirmed < wait:
            raise NotConfirmed(f"{confirmed} of {wait} replicas confirmed the write")
        return answers

    def _exchange(self, commands, batches, asked, wait):
        """Writes to all nodes before it reads. Yields (command's index, reply, replicas that
        confirmed); a failed connection is the reply to all its commands."""
        written = []  # (pool, batch, connection, commands) whose replies have not been read
        try:
            yield from self._write(commands, batches, asked, wait, written)
            while written:
                batch, sent, got = self._read_all(written)
                replicas = got.pop() if wait else 0
                got = [reply for words, reply in zip(sent, got) if words[0] != "ASKING"]
                if isinstance(replicas, Exception):
                    if not all(isinstance(reply, self.RETRIED) for reply in got):
                        raise BloomeryError(str(replicas))  # such as NOPERM: nothing is confirmed
                    replicas = wait  # the whole batch is repeated
                yield from ((i, reply, replicas) for i, reply in zip(batch, got))
        finally:
            # After Ctrl-C, for instance. Their replies are not those to the next commands.
            for pool, _, connection, _ in written:
                connection.disconnect()
                pool.release(connection)

    def _write(self, commands, batches, asked, wait, written):
        last = [("WAIT", wait, int(self.wait_for * 1000))] if wait else []
        for pool, batch in batches.items():
            sent = [words for i in batch for words in
                    ([("ASKING",)] if i in asked else []) + [commands[i]]] + last
            connection = None
            try:
                connection = pool.get_connection("MAP")
                written.append((pool, batch, connection, sent))
                connection.send_packed_command(connection.pack_commands(sent))
            except self.RETRIED as error:
                if connection:
                    written.pop()
                    connection.disconnect()
                    pool.release(connection)
                yield from ((i, error, wait) for i in batch)

    def _read_all(self, written):
        """Reads the replies of the first connection."""
        pool, batch, connection, sent = written[0]
        try:
            got = [self._read(connection) for _ in sent]
        except self.RETRIED as error:
            connection.disconnect()
            got = [error] * len(sent)
        written.pop(0)
        pool.release(connection)
        return batch, sent, got

    @staticmethod
    def _read(connection):
        try:
            return connection.read_response(disable_decoding=True)
        except replies.ResponseError as error:
            return error

    def _pool(self, key):
        if not self.is_cluster:
            return self.client.connection_pool
        slot = self.client.keyslot(key)
        owners = self.client.nodes_manager.slots_cache.get(slot)
        # If nobody has the slot, any node says so, and it is tried again.
        node = self.moved.get(slot) or (owners[0] if owners else self.client.get_default_node())
        return self.client.get_redis_connection(node).connection_pool

    def _redirect(self, error, i, key, asked):
        """Follows MOVED and ASK. A node that is not known yet leaves things as they are."""
        node = self.client.get_node(host=error.host, port=error.port)
        if node is None:
            self._refresh()
            node = self.client.get_node(host=error.host, port=error.port)
        if node and isinstance(error, replies.MovedError):
            self.moved[self.client.keyslot(key)] = node
        elif node:
            asked[i] = self.client.get_redis_connection(node).connection_pool

    def _refresh(self):
        if self.is_cluster:
            self.moved.clear()
            # The last two are what redis-py raises if no node answers, or none has slots.
            with contextlib.suppress(redis.RedisError, replies.RedisClusterException, IndexError):
                self.client.nodes_manager.initialize()


def connect(url, timeout=5.0):
    """A client for redis://[USER[:PASSWORD]@]HOST[:PORT][/NAME], and the name of the map. The
    password may also be in BLOOMERY_PASSWORD, the user in BLOOMERY_USER. timeout: seconds for
    connecting, and for each reply."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("redis", "rediss") or not parts.hostname:
        raise ValueError(f"not an address such as redis://HOST:PORT/NAME: {url!r}")
    unquote = urllib.parse.unquote
    options = {"host": parts.hostname, "port": parts.port or 6379,
               "socket_timeout": timeout, "socket_connect_timeout": timeout,
               "username": unquote(parts.username or "") or os.environ.get("BLOOMERY_USER"),
               "password": unquote(parts.password or "") or os.environ.get("BLOOMERY_PASSWORD")}
    if parts.scheme == "rediss":
        options["ssl"] = True
    client = redis.Redis(**options)
    if client.info("cluster").get("cluster_enabled"):
        client.close()
        client = RedisCluster(**options)
    return client, unquote(parts.path[1:])


def place(where, name, what, timeout=5.0):
    """(nodes, name) of a URL with a name, or of a client and a name. what: map or table."""
    if isinstance(where, str):
        where, in_url = connect(where, timeout)
        name = name or in_url
    if not name or len(name.encode()) > 200 or re.search(r"[{}\x00-\x1f\x7f]", name):
        raise ValueError(f"a {what}'s name has 1 to 200 bytes, without braces and control "
                         "characters")
    return Nodes(where), name
