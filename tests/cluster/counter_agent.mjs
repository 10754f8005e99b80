// Does what the lines of its input say, for tests: each line is a JSON list [method, arguments …] of
// clients/node/bloomery_counter.mjs; each line of the output is the answer, or {"thrown": name, …}.
import { createInterface } from "node:readline";
import * as library from "./bloomery_counter.mjs";

let table;

async function act(method, ...given) {
  if (/^(create|open)$/.test(method)) {
    table = await library[method](...given);
    return table.record;
  }
  if (method === "crash") { // begins an operation, and does not come to its end
    table.untilCounted = async (...words) => {
      if (given[0] === "after") await library.Table.prototype.untilCounted.apply(table, words);
      throw new RangeError("crash");
    };
    return table.add(...given.slice(1));
  }
  if (method === "die") process.kill(process.pid, "SIGKILL");
  if (method === "recover") {
    return (await table.recover()).map(({ added, error }) => added ?? error.message);
  }
  if (method === "repeat") {
    given[0].pairs = given[0].pairs.map(([name, delta]) => [Buffer.from(name), delta]);
  }
  return table[method](...given);
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await act(...JSON.parse(line)) ?? null;
  } catch (error) {
    answer = { thrown: error.constructor.name, message: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
table?.close();
process.exit(); // tables that were opened before have connections
