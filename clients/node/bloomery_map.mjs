// A distributed map: pairs of a key and a small value, spread over a Redis or Valkey cluster whose
// servers have loaded bloomery.so. A single server works the same way.
//
//     import { create, UNSURE } from "./bloomery_map.mjs";
//     const routes = await create("redis://127.0.0.1:7000/routes", { capacity: 2e6, raw: 12 });
//     await routes.set("10.0.0.1", 7);
//     await routes.get("10.0.0.1");  // 7; null if absent; UNSURE if engine kbf cannot tell
//     routes.close();
//
// Needs ioredis 5. README.md beside this file explains it; doc/cluster.md of Bloomery says how a map
// is stored.
import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BloomeryError, checkName, checkNumber, checkSeed, connect, crc32, isRetried, Mismatch,
  Missing, NotConfirmed } from "./bloomery_nodes.mjs";

const MapError = BloomeryError; // another name of it
export { BloomeryError, MapError, Mismatch, Missing, NotConfirmed };

const REREAD = 60000; // milliseconds after which the record of a map is read again
const CHUNK = 20000; // keys per exchange
const VALUE_MAX = 65535; // bytes
const SLABS_MAX = 2 ** 24;
const BITS_MAX = { compact: 32, kbf: 13 }; // of integers
const CODE_BITS_MAX = { compact: 24, kbf: 13 }; // of byte strings' codes

/** A limit is reached; the message names it. */
export class Full extends MapError {}
/** The type of UNSURE. */
export class Unsure {
  toString() {
    return "UNSURE";
  }
}
/** An answer of engine kbf: the key may have any value or none. */
export const UNSURE = Object.freeze(new Unsure());

const errorOf = (reply) => {
  const known = { FULL: Full, MISMATCH: Mismatch };
  return new (known[reply.message.split(" ")[0]] ?? MapError)(reply.message);
};

// ---- the record ---------------------------------------------------------------------------------

const FIELDS = ["slabs", "epoch", "pick", "values", "engine", "capacity", "error", "seed"];

const recordText = (record) =>
  ["bloomery-map 1", ...FIELDS.map((field) => `${field}=${record[field]}`)].join(" ");

function parseRecord(name, text) {
  const match = new RegExp("^bloomery-map 1 slabs=([1-9]\\d{0,7}) epoch=([0-9a-f]{16}) " +
    "pick=(crc32|hmac-sha256:[0-9a-f]{32}) values=((?:raw|codes):\\d+) engine=(compact|kbf) " +
    "capacity=(\\d+) error=([-+.e\\d]+) seed=(\\d+)$").exec(text.toString("latin1"));
  const record = match && Object.fromEntries(FIELDS.map((field, i) => [field, match[i + 1]]));
  if (!match || Number(record.slabs) > SLABS_MAX || Number(record.capacity) < 1 ||
      !(bitsOf(record) >= 1 && bitsOf(record) <= BITS_MAX.compact)) {
    throw new MapError(`map "${name}" was made by a newer Bloomery, or its record is damaged ` +
      `(if damaged, DEL {${name}}:map removes it): ${text.toString("latin1", 0, 200)}`);
  }
  return { ...record, slabs: Number(record.slabs), capacity: Number(record.capacity) };
}

const isRaw = (record) => record.values.startsWith("raw:");
const bitsOf = (record) => Number(record.values.split(":")[1]);

/** The options of every slab. */
function slabOptions(record) {
  const pairs = record.capacity / record.slabs;
  const capacity = Math.max(64, Math.ceil(pairs + 4 * Math.sqrt(pairs)));
  return ["CAPACITY", capacity, "ERROR", record.error, "ENGINE", record.engine, "RAW",
    bitsOf(record), "SEED", record.seed];
}

/** Slabs of 10^6 pairs and 16 MB at most, and 32 per primary at least. */
function planSlabs(capacity, error, engine, primaries) {
  const kbf = 16e6 / (7 * (1 + Math.log10(1 / error)));
  return Math.max(32 * primaries, Math.ceil(capacity / Math.min(1e6, engine === "kbf" ? kbf : 1e6)));
}

/** The function that says to which slab a key belongs. */
function chooser(record) {
  if (record.pick === "crc32") return (key) => crc32(key) % record.slabs;
  const secret = Buffer.from(record.pick.split(":")[1], "hex");
  return (key) => Number(createHmac("sha256", secret).update(key).digest().readBigUInt64BE() %
    BigInt(record.slabs));
}

// ---- byte strings -------------------------------------------------------------------------------

/** The byte strings of a map. Slabs hold their codes, which are positions in a list that only grows.
 *  `known` holds only entries that no failover loses: replicas have confirmed them to us, or a slab
 *  holds a code as high, which its writer had confirmed. */
class Codes {
  constructor(nodes, key, bits, hasSlabs) {
    Object.assign(this, { nodes, key, hasSlabs, most: 2 ** bits, known: [], codeOf: new Map(),
      turn: Promise.resolve() });
  }

  /** Runs one task after another. */
  exclusively(task) {
    const done = this.turn.then(task);
    this.turn = done.catch(() => {});
    return done;
  }

  async ask(command, options) {
    const [reply] = await this.nodes.run([command], { ...options, key: this.key });
    if (reply instanceof Error) throw errorOf(reply);
    return reply;
  }

  /** Reads entries, no further than to one that is known to be confirmed. */
  async readUntil(end) {
    for (const value of await this.ask(["LRANGE", this.key, this.known.length, end - 1])) {
      const text = value.toString("latin1");
      if (!this.codeOf.has(text)) this.codeOf.set(text, this.known.length);
      this.known.push(value);
    }
  }

  /** The values of codes that slabs hold; undefined for a code that was never given. */
  async valuesOf(codes) {
    const end = codes.reduce((most, code) => Math.max(most, code + 1), 0);
    if (end > this.known.length) {
      await this.exclusively(() => end > this.known.length && this.readUntil(end));
    }
    return codes.map((code) => this.known[code]);
  }

  /** The codes of these values; those without one get one. */
  async codesFor(values) {
    const texts = values.map((value) => value.toString("latin1"));
    const wanted = () => [...new Set(texts)].filter((text) => !this.codeOf.has(text));
    for (let attempt = 0; wanted().length; attempt++) {
      try {
        if (attempt > 9) throw new MapError("the list of values keeps changing");
        await this.exclusively(() => this.give(wanted()));
      } catch (error) {
        if (attempt > 8 || error instanceof MapError || !isRetried(error)) throw error;
        await sleep(50 * attempt);
      }
    }
    return texts.map((text) => this.codeOf.get(text));
  }

  /** Adds to a list of `end` entries; returns its length. A list must never start over: if its node
   *  failed over while its slot was moving, it may seem to be missing. */
  async push(values, end, confirm) {
    if (end === 0 && await this.hasSlabs() && await this.ask(["LLEN", this.key]) === 0) {
      throw new MapError(`the list ${this.key} is missing, though slabs have values: ` +
        "see bloomery cluster balance --repair");
    }
    const length = await this.ask([end ? "RPUSHX" : "RPUSH", this.key, ...values], confirm);
    if (length < end + values.length) {
      throw new MapError(`the list ${this.key} has ${length} entries, ${end} were read before`);
    }
    return length;
  }

  async give(wanted) {
    if (!wanted.length) return;
    const start = this.known.length;
    const rest = await this.ask(["LRANGE", this.key, start, -1]);
    const info = String(await this.ask(["INFO", "replication"]));
    const online = info.match(/^slave\d+:.*state=online/gm)?.length ?? 0;
    const confirm = { wait: online || Math.min(1, await this.nodes.countReplicas(this.key)) };
    const there = new Set(rest.map((value) => value.toString("latin1")));
    const missing = wanted.filter((text) => !there.has(text));
    let end = start + rest.length;
    if (missing.length) {
      if (end + missing.length > this.most) {
        throw new Full(`the map has used ${end} of its ${this.most} codes for values`);
      }
      const bytes = missing.map((text) => Buffer.from(text, "latin1"));
      end = await this.push(bytes, end, confirm);
    } else {
      // Another client has pushed them. WAIT covers them if it follows a write of ours, which must
      // not reach another node: that may have lost what was read here.
      await this.ask(["LSET", this.key, 0, start ? this.known[0] : rest[0]],
        { ...confirm, follow: start > 0 });
    }
    await this.readUntil(end);
  }
}

// ---- the map ------------------------------------------------------------------------------------

const bytesOf = (text) => (typeof text === "string" ? Buffer.from(text) : text);

async function readRecord(nodes, name) {
  const [reply] = await nodes.run([["GET", `{${name}}:map`]]);
  if (reply === null) throw new Missing(`there is no map "${name}"`);
  if (reply instanceof Error) throw errorOf(reply);
  return parseRecord(name, reply);
}

/** A map that exists. create() and open() return one. Keys are strings or Buffers; values are
 *  numbers, or strings and Buffers, which come back as Buffers. */
class BloomeryMap {
  constructor(nodes, name, record) {
    Object.assign(this, { nodes, name });
    this.adopt(record);
  }

  adopt(record) {
    Object.assign(this, { record, readAt: Date.now(), slabOf: chooser(record) });
    this.codes = isRaw(record) ? null
      : new Codes(this.nodes, `{${this.name}}:values:${record.epoch}`, bitsOf(record),
        () => this.hasSlabs());
  }

  slab(i) {
    return `{${this.name}:${i}}:${this.record.epoch}`;
  }

  async hasSlabs() {
    for (let start = 0; start < this.record.slabs; start += CHUNK) {
      const length = Math.min(CHUNK, this.record.slabs - start);
      const found = await this.nodes.run(
        Array.from({ length }, (_, i) => ["EXISTS", this.slab(start + i)]));
      if (found.includes(1)) return true;
    }
    return false;
  }

  /** Reads the record again; true if it has changed. */
  async reread() {
    const record = await readRecord(this.nodes, this.name);
    const changed = recordText(record) !== recordText(this.record);
    // Engine kbf may have shown us a code by error.
    if (changed || record.engine === "kbf") this.adopt(record);
    this.dropped = false; // and created again, by whomever
    this.readAt = Date.now();
    return changed;
  }

  /** Runs a command on many fields: keys, or keys and values. */
  async many(verb, keys, values, wait) {
    if (this.dropped || Date.now() - this.readAt > REREAD) await this.reread();
    const answers = [];
    for (let start = 0; start < keys.length; start += CHUNK) {
      const part = [keys.slice(start, start + CHUNK), values?.slice(start, start + CHUNK)];
      try {
        answers.push(...await this.chunk(verb, ...part, wait));
      } catch (error) {
        if (!(error instanceof Mismatch) || !await this.reread()) throw error;
        answers.push(...await this.chunk(verb, ...part, wait));
      }
    }
    return answers;
  }

  /** The command and its words before the fields. */
  commandOf(verb) {
    switch (verb) {
      case "set": return ["MAP.INSERT", ...slabOptions(this.record), "FIELDS"];
      case "update": return ["MAP.INSERT", "XX", "FIELDS"];
      case "delete": return ["MAP.REMOVE", "DROPEMPTY", "FIELDS"];
      default: return ["MAP.GET"];
    }
  }

  async chunk(verb, keys, values, wait) {
    const fields = keys.map(bytesOf);
    const words = values && await this.encoded(values);
    const groups = new Map();
    fields.forEach((key, i) => {
      const slab = this.slabOf(key);
      if (!groups.has(slab)) groups.set(slab, []);
      groups.get(slab).push(i);
    });
    const [command, ...options] = this.commandOf(verb);
    const commands = [...groups].map(([slab, group]) => [command, this.slab(slab), ...options,
      ...group.flatMap((i) => (words ? [fields[i], words[i]] : [fields[i]]))]);
    const answers = new Array(keys.length);
    const replies = await this.nodes.run(commands, { wait });
    [...groups.values()].forEach((group, g) => {
      if (replies[g] instanceof Error) throw errorOf(replies[g]);
      group.forEach((i, at) => {
        const answer = replies[g][at];
        const failed = answer instanceof Error;
        if (failed && !answer.message.startsWith("UNSURE")) throw errorOf(answer);
        answers[i] = failed ? UNSURE : answer;
      });
    });
    return answers;
  }

  /** The arguments for values: numbers, or codes of byte strings. */
  encoded(values) {
    const bits = bitsOf(this.record);
    if (!this.codes) {
      const wrong = values.find((value) => !(Number.isInteger(value) && value >= 0 && value < 2 ** bits));
      if (wrong !== undefined || values.includes(undefined)) {
        throw new RangeError(`${wrong} is not an integer of ${bits} bits`);
      }
      return values;
    }
    const bytes = values.map(bytesOf);
    if (!bytes.every((value) => Buffer.isBuffer(value) && value.length <= VALUE_MAX)) {
      throw new RangeError(`a value is not a string or Buffer of at most ${VALUE_MAX} bytes`);
    }
    return this.codes.codesFor(bytes);
  }

  async change(verb, pairs, wait) {
    const all = [...pairs];
    const answers = await this.many(verb, all.map(([key]) => key), all.map(([, value]) => value), wait);
    return answers.map((answer) => (answer === UNSURE ? UNSURE : answer === 1));
  }

  /** Sets pairs: a Map, or an iterable of [key, value]. Returns true for each new key, false for the
   *  others, UNSURE for those that stay as they were. wait: number of replicas that must confirm. */
  setMany(pairs, { wait = 0 } = {}) {
    return this.change("set", pairs, wait);
  }

  /** Sets the values of keys that exist. Returns true for each of them. */
  updateMany(pairs, { wait = 0 } = {}) {
    return this.change("update", pairs, wait);
  }

  /** Returns the value, null or UNSURE for each key. */
  async getMany(keys) {
    const found = await this.many("get", [...keys]);
    if (!this.codes) return found;
    const values = await this.codes.valuesOf(found.filter((code) => typeof code === "number"));
    let at = 0;
    return found.map((code) => {
      if (typeof code !== "number") return code;
      const value = values[at++];
      if (value === undefined && this.record.engine !== "kbf") {
        throw new MapError(`code ${code} is not in the list of values ${this.codes.key}`);
      }
      return value ?? null;
    });
  }

  /** Deletes keys. Returns true for each that existed. */
  async deleteMany(keys, { wait = 0 } = {}) {
    const answers = await this.many("delete", [...keys], null, wait);
    return answers.map((answer) => (answer === UNSURE ? UNSURE : answer === 1));
  }

  async set(key, value, options) {
    return (await this.setMany([[key, value]], options))[0];
  }

  async get(key) {
    return (await this.getMany([key]))[0];
  }

  async update(key, value, options) {
    return (await this.updateMany([[key, value]], options))[0];
  }

  async delete(key, options) {
    return (await this.deleteMany([key], options))[0];
  }

  /** What the whole map holds. */
  async info() {
    const total = { ...this.record, name: this.name, slabs_used: 0, items: 0, bytes: 0, queries: 0,
      refused_unsure: 0 };
    for (let start = 0; start < this.record.slabs; start += CHUNK) {
      const length = Math.min(CHUNK, this.record.slabs - start);
      const commands = Array.from({ length }, (_, i) => ["MAP.INFO", this.slab(start + i)]);
      for (const reply of await this.nodes.run(commands)) {
        if (reply instanceof Error) {
          if (/no such key/.test(reply.message)) continue;
          throw errorOf(reply);
        }
        total.slabs_used++;
        for (let i = 0; i < reply.length; i += 2) {
          const field = String(reply[i]);
          if (/^(items|bytes|queries|refused_unsure)$/.test(field)) total[field] += reply[i + 1];
          else if (/^(planned|estimated)_/.test(field)) {
            total[field] = Math.max(total[field] ?? 0, Number(reply[i + 1]));
          }
        }
      }
    }
    if (this.codes) total.different_values = await this.codes.ask(["LLEN", this.codes.key]);
    return total;
  }

  /** Deletes the map: its record first, then its slabs and values. */
  async drop() {
    if (this.dropped) await this.reread();
    this.dropped = true;
    const keys = Array.from({ length: this.record.slabs }, (_, i) => this.slab(i));
    if (this.codes) keys.push(this.codes.key);
    const commands = [["DEL", `{${this.name}}:map`], ...keys.map((key) => ["UNLINK", key])];
    for (let start = 0; start < commands.length; start = start ? start + CHUNK : 1) {
      const replies = await this.nodes.run(commands.slice(start, start ? start + CHUNK : 1));
      const failed = replies.find((reply) => reply instanceof Error);
      if (failed) throw errorOf(failed);
    }
  }

  /** Closes the connections. */
  close() {
    this.nodes.close();
  }
}

async function opened(url, options, make, needsName = true) {
  const { nodes, name } = await connect(url, options);
  try {
    if (needsName) checkName(name, "map");
    return await make(nodes, name);
  } catch (error) {
    nodes.close();
    throw error;
  }
}

/** Opens a map that exists. */
export const open = (url, options) => opened(url, options, async (nodes, name) =>
  new BloomeryMap(nodes, name, await readRecord(nodes, name)));

/** Refuses what the servers would refuse with every pair, and what no client could read again. */
function checkOptions({ capacity, error, raw, values, slabs, seed }, engine) {
  if (raw !== undefined && values !== undefined) throw new MapError("raw and values exclude each other");
  if (!Object.hasOwn(BITS_MAX, engine)) throw new MapError(`there is no engine "${engine}"`);
  checkNumber("capacity", capacity, 1, 2 ** 40, "1 to 2^40");
  checkNumber("error", error, 1e-9, 0.5, "1e-09 to 0.5", false);
  checkNumber("raw", raw, 1, BITS_MAX[engine], "1 to 32 (kbf: 13)");
  checkNumber("values", values, 1, 2 ** CODE_BITS_MAX[engine], "1 to 2^24 (kbf: 2^13)");
  checkNumber("slabs", slabs, 1, SLABS_MAX, "1 to 2^24");
  checkSeed(seed);
}

/** Creates a map, or opens the one that exists if nothing that is given differs from it (else
 *  Mismatch). capacity: pairs to plan for (default 10^6); error: share of wrong answers (0.001);
 *  engine: compact or kbf; raw: values are integers of this many bits; values: they are byte strings,
 *  of which this many differ (the default, 1000); slabs: instead of planned ones; keyed: slabs are
 *  chosen with a secret key, for keys that an adversary may choose; seed. */
export const create = (url, given = {}) => opened(url, given, async (nodes, name) => {
  const { capacity = 1e6, error = 0.001, engine = "compact", raw, values = 1000, keyed = false } = given;
  checkOptions(given, engine);
  const planned = Math.max(8, Math.ceil(Math.log2(4 * values)));
  const bits = raw ?? Math.min(CODE_BITS_MAX[engine], planned);
  const seed = () => randomBytes(8).readBigUInt64BE() || 1n;
  const record = {
    slabs: given.slabs ?? planSlabs(capacity, error, engine, nodes.primaries().length),
    epoch: randomBytes(8).toString("hex"),
    pick: keyed ? `hmac-sha256:${randomBytes(16).toString("hex")}` : "crc32",
    values: `${raw ? "raw" : "codes"}:${bits}`,
    engine, capacity, error: String(error), seed: String(given.seed ?? seed()),
  };
  const [there] = await nodes.run([["SET", `{${name}}:map`, recordText(record), "NX", "GET"]]);
  if (there instanceof Error) throw errorOf(there);
  if (there === null) return new BloomeryMap(nodes, name, record);
  const old = parseRecord(name, there);
  const same = {
    capacity: old.capacity === capacity, slabs: old.slabs === given.slabs,
    error: Number(old.error) === error, engine: old.engine === engine,
    seed: old.seed === String(given.seed), keyed: (old.pick !== "crc32") === keyed,
    raw: old.values === record.values, values: old.values === record.values,
  };
  for (const what of Object.keys(same)) {
    if (given[what] !== undefined && !same[what]) {
      const has = { keyed: old.pick !== "crc32", raw: old.values }[what] ?? old[what];
      const differs = what === "seed" ? "another seed" : `${what} ${has}, not ${given[what]}`;
      throw new Mismatch(`map "${name}" exists with ${differs}`);
    }
  }
  return new BloomeryMap(nodes, name, old);
});

/** The names of all maps that this user may read, sorted. */
export const names = (url, options) => opened(url, options, async (nodes) => {
  const found = new Set();
  for (const address of nodes.primaries()) {
    const redis = await nodes.connection(address);
    const stream = redis.scanStream({ match: "{*}:map", count: 1000, type: "string" });
    for await (const keys of stream) keys.forEach((key) => found.add(key));
  }
  const keys = [...found].filter((key) => /^\{[^{}]{1,200}\}:map$/.test(key)).sort();
  const records = await nodes.run(keys.map((key) => ["GET", key]));
  nodes.close();
  return keys.filter((_, i) => String(records[i]).startsWith("bloomery-map "))
    .map((key) => key.slice(1, -5));
}, false);
