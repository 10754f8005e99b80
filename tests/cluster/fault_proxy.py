"""A proxy between clients and one node that loses and delays what passes, by a seed.

What happens to a request depends on the seed, the id of its operation and how often that was seen,
not on time or on the order of connections, so a run can be repeated. What a replica receives
passes, unless it is held back. All proxies of a cluster run in one thread.

    plan = FaultPlan(seed, reply=0.01, between=0.005)
    with Proxies(plan) as proxies:
        port = proxies.to(node_port)
"""

import asyncio
import collections
import random
import threading

# What can happen to a request, and to what follows it on its connection.
KINDS = ("request",  # it is lost, and the connection
         "reply",  # it is executed; its reply is lost, and the connection
         "between",  # the same, before the WAIT that follows it is sent
         "late_request",  # it arrives after the client's timeout
         "late_reply")  # the reply does

PASSED = {b"psync", b"sync", b"replconf"}  # the first commands of a replica


class FaultPlan:
    """Decides, and remembers what it did. Rates: kind → share of the requests."""

    def __init__(self, seed, delay=1.5, **rates):
        unknown = set(rates) - set(KINDS)
        if unknown:
            raise ValueError(f"no such fault: {unknown}")
        self.seed, self.delay, self.rates = seed, delay, rates
        self.active = True
        self.seen = collections.Counter()  # operation → requests
        self.done = collections.Counter()  # kind → how often
        self.applied_unheard = collections.Counter()  # operation → lost replies that were no errors

    @staticmethod
    def operation(words):
        """The id of a counting request; None for others."""
        name = words[0].upper()
        if name == b"COUNTER.INCRBY" and len(words) > 4:
            return words[4]
        if name == b"ONCE" and len(words) > 2:
            return words[2]
        if name == b"HINCRBY" and len(words) > 2:
            return words[2]
        return None

    def decide(self, words):
        """The kind of fault for a request, or None."""
        operation = self.operation(words)
        if operation is None or not self.active:
            return None
        self.seen[operation] += 1
        point = random.Random(f"{self.seed}/{operation.hex()}/{self.seen[operation]}").random()
        for kind, share in self.rates.items():
            if point < share:
                self.done[kind] += 1
                return kind
            point -= share
        return None

    def retries(self):
        """How many requests were not the first of their operation."""
        return sum(count - 1 for count in self.seen.values())


class Reader:
    """Cuts a stream of the protocol into messages: [(bytes, words or None)]."""

    def __init__(self):
        self.buffer = b""

    def feed(self, data):
        self.buffer += data
        messages = []
        while self.buffer:
            end, words = self._message(0)
            if end is None:
                break
            messages.append((self.buffer[:end], words))
            self.buffer = self.buffer[end:]
        return messages

    def _message(self, at):
        """(its end, its words or None); (None, None) if it is incomplete."""
        line = self.buffer.find(b"\r\n", at)
        if line < 0:
            return None, None
        kind, rest, end = self.buffer[at:at + 1], self.buffer[at + 1:line], line + 2
        if kind in b"$=":
            if rest == b"-1":
                return end, None
            stop = end + int(rest)
            return (stop + 2, self.buffer[end:stop]) if stop + 2 <= len(self.buffer) \
                else (None, None)
        if kind in b"*~>%":
            words = []
            for _ in range(int(rest) * (2 if kind == b"%" else 1)):
                end, word = self._message(end)
                if end is None:
                    return None, None
                words.append(word)
            return end, words
        return end, None


class Connection:
    """One client's connection to the node."""

    def __init__(self, proxy, client, server):
        self.proxy, self.plan = proxy, proxy.plan
        self.client_reader, self.client = client
        self.server_reader, self.server = server
        self.expected = collections.deque()  # (operation, fault) of each request sent
        self.cutting = False  # no further request is sent
        self.is_replica = False

    async def run(self):
        tasks = [asyncio.ensure_future(self._requests()), asyncio.ensure_future(self._replies())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.close()

    def close(self):
        for end in (self.client, self.server):
            end.close()

    async def _requests(self):
        reader = Reader()
        while data := await self.client_reader.read(1 << 16):
            if self.is_replica:
                self.server.write(data)
                await self.server.drain()
                continue
            for raw, words in reader.feed(data):
                self.is_replica |= bool(words) and words[0].lower() in PASSED
                fault = self.plan.decide(words) if words else None
                if fault == "request":
                    return
                if fault == "late_request":
                    await asyncio.sleep(self.plan.delay)
                if not self.cutting:
                    operation = self.plan.operation(words) if words else None
                    self.expected.append((operation, fault))
                    self.server.write(raw)
                self.cutting |= fault == "between"
            await self.server.drain()

    async def _replies(self):
        reader = Reader()
        while data := await self.server_reader.read(1 << 16):
            if self.is_replica:
                await self.proxy.released.wait()
                if self.client.is_closing():
                    return
                self.client.write(self.proxy.rewrite(data) if self.proxy.rewrite else data)
                await self.client.drain()
                continue
            for raw, _ in reader.feed(data):
                operation, fault = self.expected.popleft()
                if fault in ("reply", "between"):
                    self.plan.applied_unheard[operation] += raw[:1] != b"-"
                    return
                if fault in ("late_request", "late_reply"):
                    self.plan.applied_unheard[operation] += raw[:1] != b"-"
                    await asyncio.sleep(self.plan.delay if fault == "late_reply" else 0)
                self.client.write(raw)
            await self.client.drain()


class Proxy:
    def __init__(self, plan, target):
        self.plan, self.target = plan, target
        self.cut = False  # clients cannot reach the node
        self.rewrite = None  # a function of what replicas receive
        self.connections = set()

    async def listen(self):
        self.released = asyncio.Event()
        self.released.set()
        self.server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _accept(self, *client):
        if self.cut:
            client[1].close()
            return
        try:
            server = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            client[1].close()
            return
        connection = Connection(self, client, server)
        self.connections.add(connection)
        try:
            await connection.run()
        except (OSError, asyncio.CancelledError):
            connection.close()
        finally:
            self.connections.discard(connection)

    def part(self, cut):
        """Cuts clients off from the node, or lets them in again; replicas stay connected."""
        self.cut = cut
        for connection in list(self.connections) if cut else ():
            if not connection.is_replica:
                connection.close()

    def hold(self, held):
        """Holds back what replicas of the node receive. What is held when the node dies is lost."""
        if held:
            self.released.clear()
            return
        self.released.set()

    def forget(self):
        """Loses what is held back, and the connections of the replicas."""
        for connection in list(self.connections):
            if connection.is_replica:
                connection.close()
        self.released.set()


class Proxies:
    def __init__(self, plan, rewrite=None):
        self.plan, self.rewrite = plan, rewrite
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.all = {}  # port of a node → its proxy

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self._run(self._close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _close(self):
        for proxy in self.all.values():
            proxy.server.close()
            for connection in list(proxy.connections):
                connection.close()
        await asyncio.sleep(0.05)

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def to(self, target):
        """The port of a new proxy to this port."""
        proxy = Proxy(self.plan, target)
        self._run(proxy.listen())
        proxy.rewrite = self.rewrite
        self.all[target] = proxy
        return proxy.port

    def tell(self, target, action, *arguments):
        """Calls a method of the proxy to this port."""
        async def call():
            getattr(self.all[target], action)(*arguments)
        self._run(call())
