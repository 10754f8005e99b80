// Connections to a Redis or Valkey cluster, or to a single server: commands go to the owners of their
// keys, many at once, and follow redirections. What bloomery_map.mjs is built on. Needs ioredis 5.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";

const SLOTS = 16384;

/** The base of all errors of these clients; also an error reply that has no class of its own. */
export class BloomeryError extends Error {}
/** There is nothing of this name. */
export class Missing extends BloomeryError {}
/** Something of this name exists, with other options. */
export class Mismatch extends BloomeryError {}
/** Fewer replicas than wanted have confirmed a write in time. */
export class NotConfirmed extends BloomeryError {}

/** Refuses an option that is not a number from least to most, which `limits` says in words. Undefined
 *  means that it is not given. */
export function checkNumber(name, value, least, most, limits, whole = true) {
  if (value === undefined) return;
  if (typeof value !== "number") {
    throw new TypeError(`${name} is a number, not ${JSON.stringify(value) ?? value}`);
  }
  if (!(value >= least && value <= most) || (whole && !Number.isInteger(value))) {
    throw new RangeError(`${name} is ${whole ? "a whole number, " : ""}${limits}, not ${value}`);
  }
}

/** A seed may be too large for a number: a BigInt, or digits. */
export function checkSeed(seed) {
  if (seed === undefined) return;
  const digits = Number.isSafeInteger(seed) || typeof seed === "bigint" || typeof seed === "string";
  if (!digits || !/^[1-9]\d{0,19}$/.test(String(seed)) || BigInt(seed) >= 2n ** 64n) {
    throw new RangeError(`seed is a whole number, 1 to 2^64 - 1, not ${seed}`);
  }
}

/** The slot of a key of ours, all of which begin with their {tag}. */
function slotOf(key) {
  let crc = 0;
  for (const byte of Buffer.from(key.slice(1, key.indexOf("}")))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return (crc & 0xffff) % SLOTS;
}

const CRC32 = Uint32Array.from({ length: 256 }, (_, i) => {
  for (let bit = 0; bit < 8; bit++) i = i & 1 ? (i >>> 1) ^ 0xedb88320 : i >>> 1;
  return i;
});

export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC32[(crc ^ byte) & 255];
  return (crc ^ 0xffffffff) >>> 0;
}

export const REDIRECTED = /^(MOVED|ASK) (\d+) (.*):(\d+)$/;
const LATER = /^(TRYAGAIN|CLUSTERDOWN|MASTERDOWN|READONLY|LOADING)\b/;
const isReply = (error) => error.name === "ReplyError";
export const isRetried = (error) => !isReply(error) || REDIRECTED.test(error.message) ||
  LATER.test(error.message);

/** One connection per node. Sends commands to the owners of their keys, and repeats those that were
 *  redirected. */
export class Nodes {
  constructor(host, port, options) {
    this.first = `${host}:${port}`;
    this.patience = 30000; // milliseconds for redirections and failovers
    this.waitFor = 4000; // milliseconds for replicas; less than socketTimeout
    this.options = { connectTimeout: 5000, socketTimeout: 5000, ...options, lazyConnect: true, enableReadyCheck: false,
      enableOfflineQueue: false, retryStrategy: null, // WAIT must not come on a new connection
      autoResendUnfulfilledCommands: false };
    this.connections = new Map();
    this.slots = []; // slot → [primary, replicas …] as "host:port"
  }

  async connection(address) {
    if (!this.connections.has(address)) {
      const at = address.lastIndexOf(":");
      const redis = new Redis({ ...this.options, host: address.slice(0, at),
        port: Number(address.slice(at + 1)) });
      redis.on("error", () => {});
      redis.on("end", () => this.connections.get(address)?.redis === redis &&
        this.connections.delete(address));
      this.connections.set(address, { redis, ready: redis.connect() });
    }
    const { redis, ready } = this.connections.get(address);
    try {
      await ready;
    } catch (error) {
      this.connections.delete(address);
      throw error;
    }
    return redis;
  }

  close() {
    for (const { redis } of this.connections.values()) redis.disconnect();
    this.connections.clear();
  }

  /** Reads the table of slots from the first node that answers. */
  async refresh() {
    let failure;
    for (const address of new Set([...this.primaries(), ...this.connections.keys(), this.first])) {
      try {
        const redis = await this.connection(address);
        const enabled = /cluster_enabled:1/.test(await redis.info("cluster"));
        const ranges = enabled ? await redis.call("CLUSTER", "SLOTS")
          : [[0, SLOTS - 1, [redis.options.host, redis.options.port]]];
        const slots = [];
        for (const [from, to, ...nodes] of ranges) {
          const owners = nodes.map(([host, port]) => `${host || redis.options.host}:${port}`);
          for (let slot = from; slot <= to; slot++) slots[slot] = owners;
        }
        this.slots = slots;
        return;
      } catch (error) {
        failure = error;
        if (isReply(error) && !isRetried(error)) break; // such as a wrong password
      }
    }
    throw failure;
  }

  primaries() {
    return [...new Set(this.slots.filter(Boolean).map(([primary]) => primary))];
  }

  /** The number of replicas that the cluster has for the shard of a key, as it is now. */
  async countReplicas(key) {
    await this.refresh();
    return Math.max(0, (this.slots[slotOf(key)]?.length ?? 1) - 1);
  }

  /** The node of a key, as far as is known. */
  addressOf(key) {
    return this.slots[slotOf(key)]?.[0] ?? this.first;
  }

  /** Follows a redirection of a key. Returns the node to ask, for ASK, or null. */
  redirect([, kind, slot, host, port], key) {
    const address = this.addressOf(key);
    const target = `${host || address.slice(0, address.lastIndexOf(":"))}:${port}`;
    if (kind === "ASK") return target;
    if (this.slots[slot]?.[0] !== target) this.slots[slot] = [target];
    return null;
  }

  /** Sends commands, those of one node in one write. Returns the replies in order; error replies are
   *  among them. The key of a command is its second word, unless `key` is given. With wait, each
   *  write ends with WAIT, on the same connection, and NotConfirmed is thrown if that many replicas
   *  did not confirm it. Without follow, a redirection is thrown too. */
  async run(commands, { wait = 0, key, follow = true } = {}) {
    const answers = new Array(commands.length);
    const asked = new Map(); // index → address
    const end = Date.now() + this.patience;
    let [todo, pause, confirmed] = [[...commands.keys()], 10, wait];
    if (!this.slots.length) await this.refresh();
    while (todo.length) {
      const batches = new Map();
      for (const i of todo) {
        const address = asked.get(i) ?? this.addressOf(key ?? commands[i][1]);
        if (!batches.has(address)) batches.set(address, []);
        batches.get(address).push(i);
      }
      let failed = null;
      todo = [];
      await Promise.all([...batches].map(async ([address, batch]) => {
        const got = await this.exchange(address, batch.map((i) => commands[i]),
          batch.map((i) => asked.has(i)), wait);
        confirmed = Math.min(confirmed, got.replicas);
        batch.forEach((i, at) => {
          const reply = got.replies[at];
          asked.delete(i);
          if (!(reply instanceof Error) || !isRetried(reply)) {
            answers[i] = reply;
            return;
          }
          todo.push(i);
          const redirection = REDIRECTED.exec(reply.message);
          if (!redirection) {
            failed = reply;
            return;
          }
          const target = this.redirect(redirection, key ?? commands[i][1]);
          if (target) asked.set(i, target);
        });
      }));
      todo.sort((a, b) => a - b);
      if (todo.length && (!follow || Date.now() > end)) {
        throw failed ?? new BloomeryError("the cluster redirects without end");
      }
      if (failed) {
        await sleep(pause);
        pause = Math.min(2 * pause, 250);
        await this.refresh().catch((error) => {
          if (isReply(error) && !isRetried(error)) throw error;
        });
      }
    }
    if (confirmed < wait) {
      throw new NotConfirmed(`${confirmed} of ${wait} replicas confirmed the write`);
    }
    return answers;
  }

  /** One write to a node. A failed connection is the reply to every command. */
  async exchange(address, commands, asking, wait, waitFor = this.waitFor) {
    try {
      const pipeline = (await this.connection(address)).pipeline();
      commands.forEach((words, i) => {
        if (asking[i]) pipeline.call("ASKING");
        pipeline.callBuffer(...words);
      });
      if (wait) pipeline.call("WAIT", wait, waitFor);
      const got = (await pipeline.exec()).map(([error, reply]) => error ?? reply);
      const replicas = wait ? got.pop() : 0;
      let at = 0;
      const replies = commands.map((_, i) => got[(at += asking[i] ? 2 : 1) - 1]);
      if (!(replicas instanceof Error)) return { replies, replicas };
      // Such as NOPERM: nothing is known to be confirmed. Unless the whole batch is repeated.
      const repeated = replies.every((reply) => reply instanceof Error && isRetried(reply));
      return { replies: repeated ? replies : replies.map(() => replicas), replicas: wait };
    } catch (error) {
      return { replies: commands.map(() => error), replicas: wait };
    }
  }
}

/** Throws unless it is a valid name of a map or table. */
export function checkName(name, what) {
  // eslint-disable-next-line no-control-regex
  if (!name || Buffer.byteLength(name) > 200 || /[{}\x00-\x1f\x7f]/.test(name)) {
    throw new BloomeryError(
      `a ${what}'s name has 1 to 200 bytes, without braces and control characters`);
  }
}

/** redis://[USER[:PASSWORD]@]HOST[:PORT][/NAME]. The password may also be in BLOOMERY_PASSWORD, the
 *  user in BLOOMERY_USER. `options.redis` goes to ioredis. */
export async function connect(url, options) {
  const parts = new URL(url);
  if (!/^rediss?:$/.test(parts.protocol) || !parts.hostname) {
    throw new BloomeryError(`not an address such as redis://HOST:PORT/NAME: ${url}`);
  }
  const nodes = new Nodes(parts.hostname.replace(/^\[|\]$/g, ""), Number(parts.port || 6379), {
    ...(parts.protocol === "rediss:" && { tls: {} }),
    username: decodeURIComponent(parts.username) || process.env.BLOOMERY_USER,
    password: decodeURIComponent(parts.password) || process.env.BLOOMERY_PASSWORD,
    ...options?.redis,
  });
  try {
    await nodes.refresh();
  } catch (error) {
    nodes.close();
    throw error;
  }
  return { nodes, name: decodeURIComponent(parts.pathname.slice(1)) };
}
