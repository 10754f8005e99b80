// Counters over a Redis or Valkey cluster that count each operation once, however often it is
// retried. The servers have loaded bloomery.so. A single server works the same way.
//
//     import { create } from "./bloomery_counter.mjs";
//     const sales = await create("redis://127.0.0.1:7000/sales", { window: 600 });
//     await sales.add("tea", 3);   // { value: 3, applied: true }
//     await sales.get("tea");      // 3
//     sales.close();
//
// add() retries by itself, always with the same id: after a timeout, a lost connection, a redirection
// or a failover. It returns once the increment is counted and, by default, a replica has it too. It
// throws Unknown if that took longer than `retryFor`: then nobody knows, and the program must not
// count it again with another id.
//
// Needs ioredis 5. doc/exactly-once.md of Bloomery says what is promised. Values are numbers; beyond
// 2^53 they are rounded.
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BloomeryError as CounterError, checkName, checkNumber, checkSeed, connect, crc32, isRetried,
  Mismatch, Missing, REDIRECTED } from "./bloomery_nodes.mjs";

export { CounterError, Mismatch, Missing };

/** The server refused the operation, and it is not counted; the message says why. */
export class Refused extends CounterError {}
/** Whether the operation is counted, and safe, is not known. `operation` can be given to repeat()
 *  while its window lasts. */
export class Unknown extends CounterError {
  constructor(message, operation) {
    super(`it is unknown whether ${operation.id} is counted: ${message}`);
    this.operation = operation;
  }
}

// ---- ids and names ------------------------------------------------------------------------------

// 128 random bits for each process, and a sequence number.
const process128 = randomBytes(16).toString("hex");
let lastNumber = 0;
const nextId = () => `${process128}-${++lastNumber}`;

const bytesOf = (name) => Buffer.from(name);

/** What chooses a counter's part: what is between the first braces, or all of the name. */
function tagOf(name) {
  const start = name.indexOf("{");
  const end = start < 0 ? -1 : name.indexOf("}", start + 1);
  return end > start + 1 ? name.subarray(start + 1, end) : name;
}

// ---- the record ---------------------------------------------------------------------------------

const FIELDS = ["parts", "epoch", "window", "skew", "error", "engine", "capacity", "seed", "hot"];
const recordText = (record) =>
  ["bloomery-counters 1", ...FIELDS.map((field) => `${field}=${record[field]}`)].join(" ");

function parseRecord(name, text) {
  const match = new RegExp("^bloomery-counters 1 parts=([1-9]\\d*) epoch=([0-9a-f]{16}) " +
    "window=(\\d+) skew=(\\d+) error=([-+.e\\d]+) engine=(compact|fbf) capacity=(\\d+) " +
    "seed=(\\d+) hot=(-|(?:[0-9a-f]{2})*(?:,(?:[0-9a-f]{2})*)*)$").exec(text.toString("latin1"));
  if (!match) {
    throw new CounterError(`the table "${name}" was made by a newer Bloomery, or its record is ` +
      `damaged (if damaged, DEL {${name}}:counters removes it): ${text.toString("latin1", 0, 200)}`);
  }
  const record = Object.fromEntries(FIELDS.map((field, i) => [field, match[i + 1]]));
  for (const field of ["parts", "window", "skew", "capacity"]) record[field] = Number(record[field]);
  return record;
}

/** The options of each part. */
const partOptions = (record) => ["WINDOW", record.window, "SKEW", record.skew, "ERROR", record.error,
  "ENGINE", record.engine, "CAPACITY",
  Math.max(64, Math.floor(2 * record.capacity / record.parts)), "SEED", record.seed];

// ---- the outbox ---------------------------------------------------------------------------------

/** A file with the operations that this program has begun. After a crash the next start repeats the
 *  unfinished ones, with their ids: recover(). */
class Outbox {
  static LARGE = 1 << 20;

  constructor(path) {
    this.lock = `${path}.lock`;
    this.takeLock(path);
    this.file = fs.openSync(path, "a+", 0o600);
    try {
      this.open = this.read(path);
    } catch (error) {
      this.close();
      throw error;
    }
    this.rewrite();
  }

  /** A file with the number of the process that uses the outbox. */
  takeLock(path) {
    for (let attempt = 0; ; attempt++) {
      try {
        fs.writeFileSync(this.lock, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
        return;
      } catch (error) {
        if (error.code !== "EEXIST" || attempt > 0) throw error;
      }
      const owner = Number(fs.readFileSync(this.lock, "latin1"));
      try {
        process.kill(owner, 0);
      } catch (error) {
        if (error.code === "ESRCH") {
          fs.unlinkSync(this.lock); // it has died
          continue;
        }
      }
      throw new CounterError(`another process uses the outbox ${path}`);
    }
  }

  read(path) {
    const begun = new Map();
    const lines = fs.readFileSync(path, "latin1").split("\n");
    lines.slice(0, -1).forEach((line, at) => { // what follows the last newline is incomplete
      try {
        const entry = JSON.parse(line);
        if ("done" in entry) return void begun.delete(entry.done);
        const pairs = entry.pairs.map(([name, delta]) => [Buffer.from(name, "hex"), delta]);
        if (typeof entry.id !== "string" || typeof entry.sent !== "number") throw new TypeError();
        begun.set(entry.id, { id: entry.id, sent: entry.sent, pairs });
      } catch {
        throw new CounterError(`line ${at + 1} of the outbox is damaged`);
      }
    });
    return begun;
  }

  rewrite() {
    fs.ftruncateSync(this.file, 0);
    this.append([...this.open.values()].map(Outbox.line).join(""));
  }

  static line({ id, sent, pairs }) {
    return `${JSON.stringify({ id, sent, pairs: pairs.map(([n, d]) => [n.toString("hex"), d]) })}\n`;
  }

  append(text, sync = true) {
    if (text) fs.writeSync(this.file, text);
    if (sync) fs.fdatasyncSync(this.file);
  }

  /** Called before it is sent. */
  begin(operation) {
    this.append(Outbox.line(operation));
    this.open.set(operation.id, operation);
  }

  /** Not synced: an operation that is repeated once more is recognised. */
  end(operation) {
    this.open.delete(operation.id);
    if (!this.open.size && fs.fstatSync(this.file).size > Outbox.LARGE) fs.ftruncateSync(this.file, 0);
    else this.append(`${JSON.stringify({ done: operation.id })}\n`, false);
  }

  close() {
    fs.closeSync(this.file);
    fs.rmSync(this.lock, { force: true });
  }
}

// ---- the table ----------------------------------------------------------------------------------

/** A table of counters that exists. create() and open() return one.
 *
 *  wait: replicas that must have an increment before add() returns (1); waitFor: milliseconds for
 *  them in each try (500); retryFor: milliseconds after which add() throws Unknown; less than the
 *  window. */
export class Table {
  constructor(nodes, name, record, { wait = 1, waitFor = 500, retryFor, outbox } = {}) {
    const horizon = record.window - record.skew;
    Object.assign(this, { nodes, name, record, wait, waitFor,
      retryFor: retryFor ?? Math.min(30000, horizon / 2) });
    if (this.retryFor > horizon) {
      throw new CounterError(`retryFor is longer than the table's window less its skew, ${horizon} ` +
        "ms: a late retry would not be recognised");
    }
    this.hot = new Set(record.hot === "-" ? [] : record.hot.split(","));
    this.outbox = outbox ? new Outbox(outbox) : null;
  }

  close() {
    this.outbox?.close();
    this.nodes.close();
  }

  part(i) {
    return `{${this.name}:${i}}:${this.record.epoch}`;
  }

  partOf(bytes) {
    return this.part(crc32(bytes) % this.record.parts);
  }

  keyOf(operation) {
    const names = operation.pairs.map(([name]) => name.toString("hex"));
    if (names.some((name) => this.hot.has(name))) {
      if (names.length > 1) {
        throw new CounterError("a hot counter is spread over all parts: add to it by itself");
      }
      return this.partOf(Buffer.from(operation.id));
    }
    if (new Set(names).size < names.length) {
      throw new CounterError("a counter occurs twice: its second increment would be taken for a " +
        "repeat of the first");
    }
    const keys = new Set(operation.pairs.map(([name]) => this.partOf(tagOf(name))));
    if (keys.size > 1) {
      throw new CounterError("these counters are in different parts of the table: give their " +
        "names the same {tag}");
    }
    return [...keys][0];
  }

  /** Adds delta to a counter, once. Returns { value, applied }; applied is false for a repeat, also
   *  for a retry whose first try was applied. Refused: it is not counted. Unknown: see above. */
  async add(name, delta = 1) {
    return (await this.addMany([[name, delta]]))[0];
  }

  /** Adds to several counters, all or none. pairs: [[name, delta], …] or an object. The counters must
   *  be in one part of the table: names with the same {tag} are. */
  async addMany(pairs) {
    const list = Array.isArray(pairs) ? pairs : Object.entries(pairs);
    for (const [, delta] of list) {
      if (!Number.isSafeInteger(delta)) throw new CounterError(`${delta} is not a whole number`);
    }
    if (!list.length) return [];
    const operation = { id: nextId(), sent: Date.now(),
      pairs: list.map(([name, delta]) => [bytesOf(name), delta]) };
    this.keyOf(operation); // throws before anything is sent
    this.outbox?.begin(operation);
    return this.repeat(operation, true);
  }

  /** Repeats what the program that used the outbox before has begun and not finished. Returns
   *  [{ operation, added or error }, …]. */
  async recover() {
    const done = [];
    for (const operation of [...this.outbox.open.values()]) {
      try {
        done.push({ operation, added: await this.repeat(operation) });
      } catch (error) {
        if (!(error instanceof CounterError)) throw error;
        done.push({ operation, error });
      }
    }
    return done;
  }

  /** Tries an operation until it is counted and confirmed. */
  async repeat(operation, first = false) {
    try {
      const added = await this.untilCounted(operation, first);
      this.outbox?.end(operation);
      return added;
    } catch (error) {
      if (error instanceof Refused) this.outbox?.end(operation);
      throw error;
    }
  }

  async untilCounted(operation, first) {
    const key = this.keyOf(operation);
    const words = ["COUNTER.INCRBY", key,
      ...operation.pairs.flatMap(([name, delta]) => [name, delta, operation.id]),
      "SENT", operation.sent];
    const end = Date.now() + this.retryFor;
    for (let [pause, asked, uncertain] = [10, null, !first]; ;) {
      const { reply, replicas } = await this.tryOnce(key, words, asked);
      asked = null;
      const failed = reply instanceof Error;
      if (!failed && replicas >= this.wait) {
        return reply.map(([value, applied]) => ({ value: Number(value), applied: applied === 1 }));
      }
      const redirection = failed && REDIRECTED.exec(reply.message);
      if (redirection) {
        asked = this.nodes.redirect(redirection, key);
      } else if (failed && !isRetried(reply)) {
        // A try without a reply may still be under way, and be counted later.
        throw uncertain ? new Unknown(reply.message, operation) : new Refused(reply.message);
      } else {
        uncertain ||= !failed || reply.name !== "ReplyError";
        await sleep(pause * (0.5 + Math.random() / 2));
        pause = Math.min(2 * pause, 500);
        if (failed) await this.nodes.refresh().catch(() => {});
      }
      if (Date.now() > end) {
        throw new Unknown(failed ? reply.message : `${replicas} of ${this.wait} replicas have it`,
          operation);
      }
    }
  }

  /** WAIT goes down the same connection in the same write: on another one it would wait for something
   *  else. */
  async tryOnce(key, words, asked) {
    const got = await this.nodes.exchange(asked ?? this.nodes.addressOf(key), [words],
      [asked !== null], this.wait, this.waitFor);
    return { reply: got.replies[0], replicas: got.replicas };
  }

  /** The value of a counter; null if it does not exist. */
  async get(name) {
    return (await this.getMany([name]))[0];
  }

  async getMany(names) {
    const wanted = names.map(bytesOf);
    const groups = new Map();
    wanted.forEach((name, i) => {
      const keys = this.hot.has(name.toString("hex"))
        ? Array.from({ length: this.record.parts }, (_, p) => this.part(p))
        : [this.partOf(tagOf(name))];
      for (const key of keys) groups.set(key, [...(groups.get(key) ?? []), i]);
    });
    const values = new Array(names.length).fill(null);
    const replies = await this.nodes.run([...groups].map(([key, group]) =>
      ["COUNTER.GET", key, ...group.map((i) => wanted[i])]));
    [...groups.values()].forEach((group, at) => {
      if (replies[at] instanceof Error) throw new CounterError(replies[at].message);
      group.forEach((i, j) => {
        const value = replies[at][j];
        if (value !== null) values[i] = (values[i] ?? 0) + Number(value);
      });
    });
    return values;
  }

  /** What the whole table holds. */
  async info() {
    const sums = { counters: 0, ids: 0, applied: 0, repeats: 0, bytes: 0, refused_full: 0,
      refused_overflow: 0, expected_lost: 0 };
    for (const reply of await this.nodes.run(Array.from({ length: this.record.parts },
      (_, p) => ["COUNTER.INFO", this.part(p)]))) {
      if (reply instanceof Error) throw new CounterError(reply.message);
      for (let i = 0; i < reply.length; i += 2) {
        const field = reply[i].toString();
        if (field in sums) sums[field] += Number(reply[i + 1]);
      }
    }
    return { ...this.record, name: this.name, ...sums };
  }

  /** Deletes the table: its record first, then its parts. */
  async drop() {
    await this.nodes.run([["DEL", `{${this.name}}:counters`]]);
    await unlinkParts(this.nodes, this.name, this.record);
  }
}

const partsOf = (name, record) =>
  Array.from({ length: record.parts }, (_, i) => `{${name}:${i}}:${record.epoch}`);
const unlinkParts = (nodes, name, record) =>
  nodes.run(partsOf(name, record).map((key) => ["UNLINK", key]));

// ---- creating and opening -----------------------------------------------------------------------

/** Opens a table that exists. how: wait, waitFor, retryFor, outbox (class Table), and `redis` for
 *  ioredis. */
export async function open(url, how = {}) {
  const { nodes, name } = await connect(url, { redis: { socketTimeout: 2000, ...how.redis } });
  try {
    checkName(name, "table");
    const [reply] = await nodes.run([["GET", `{${name}}:counters`]]);
    if (reply === null) throw new Missing(`there is no table "${name}"`);
    if (reply instanceof Error) throw new CounterError(reply.message);
    return new Table(nodes, name, parseRecord(name, reply), how);
  } catch (error) {
    nodes.close();
    throw error;
  }
}

/** Before anything is created. */
function checkOptions({ window = 600, skew, error, engine = "compact", capacity, parts, seed }) {
  const most = 2 ** 52 / 1000;
  checkNumber("window", window, 0.002, most, "0.002 to 2^52 / 1000 seconds", false);
  checkNumber("skew", skew, 0.001, most, "0.001 to 2^52 / 1000 seconds", false);
  if (skew >= window) throw new RangeError("skew is shorter than window");
  checkNumber("error", error, 1e-12, 0.5, "1e-12 to 0.5", false);
  if (!/^(compact|fbf)$/.test(engine)) throw new CounterError(`there is no engine "${engine}"`);
  checkNumber("capacity", capacity, 1, 2 ** 40, "1 to 2^40");
  checkNumber("parts", parts, 1, 2 ** 20, "1 to 2^20");
  checkSeed(seed);
}

/** Creates a table, or opens the one that exists if nothing that is given differs from it (else
 *  Mismatch). window: seconds for which a retry is recognised (default 600); skew: seconds that
 *  clients' clocks may be off (1); error: share of increments that may be lost (1e-9); engine:
 *  compact or fbf; capacity: operations per window to plan for (10^6); parts: instead of 16 per
 *  primary; hot: names of counters that are spread over all parts, because one part would be too
 *  busy; seed. how: see open(). */
export async function create(url, { window, skew, error, engine, capacity, parts, hot, seed,
  ...how } = {}) {
  const { nodes, name } = await connect(url, { redis: { socketTimeout: 2000, ...how.redis } });
  try {
    checkName(name, "table");
    checkOptions({ window, skew, error, engine, capacity, parts, seed });
    const span = Math.round((window ?? 600) * 1000);
    const record = { parts: parts ?? 16 * nodes.primaries().length,
      epoch: randomBytes(8).toString("hex"), window: span,
      skew: skew === undefined ? Math.min(1000, Math.floor(span / 4) + 1) : Math.round(skew * 1000),
      error: pythonNumber(error ?? 1e-9), engine: engine ?? "compact", capacity: capacity ?? 1e6,
      seed: String(seed ?? (randomBytes(8).readBigUInt64LE() || 1n)),
      hot: (hot ?? []).map((each) => bytesOf(each).toString("hex")).sort().join(",") || "-" };
    const there = await makeOrFind(nodes, name, record);
    if (there === null) return new Table(nodes, name, record, how);
    const old = parseRecord(name, there);
    const given = { window, skew, engine, capacity, parts, hot, error, seed };
    for (const field of Object.keys(given).filter((each) => given[each] !== undefined)) {
      const same = field === "error" ? Number(old.error) === error : old[field] === record[field];
      if (!same) {
        const differs = field === "seed" ? "another seed"
          : `${field} ${old[field]}, not ${record[field]}`;
        throw new Mismatch(`table "${name}" exists with ${differs}`);
      }
    }
    return new Table(nodes, name, old, how);
  } catch (thrown) {
    nodes.close();
    throw thrown;
  }
}

/** The record that exists; null after this one was created. The parts come first: nobody counts in a
 *  table that is incomplete. If the creation fails here, they are left without a record, and another
 *  epoch is used next time. */
async function makeOrFind(nodes, name, record) {
  const key = `{${name}}:counters`;
  let [there] = await nodes.run([["GET", key]]);
  if (there === null) {
    const made = await nodes.run(partsOf(name, record).map((part) =>
      ["COUNTER.CREATE", part, ...partOptions(record)]));
    const problem = made.find((reply) => reply instanceof Error && !/^BUSYKEY/.test(reply.message));
    if (problem) throw new CounterError(problem.message);
    [there] = await nodes.run([["SET", key, recordText(record), "NX", "GET"]]);
    if (there !== null) { // another client was first, or a repeat of ours
      if (there.toString?.() === recordText(record)) return null;
      await unlinkParts(nodes, name, record);
    }
  }
  if (there instanceof Error) throw new CounterError(there.message);
  return there;
}

/** A number as the other clients write it: 1e-09. */
function pythonNumber(number) {
  return String(number).replace(/e([-+])(\d)$/, "e$10$2");
}
