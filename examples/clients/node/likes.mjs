/*
 * Likes that count once, and comments that appear once, however often they are sent:
 *
 *     node likes.mjs PORT
 *
 * A click is sent until it is answered. If an answer is lost, the sender does not know whether the
 * click was counted: if it sends again, INCR may count it twice; if not, the click may be lost.
 * COUNTER.INCRBY takes an id with each click and counts each id once, so sending again is safe.
 * ONCE does the same for any other write command.
 *
 * With ioredis, whose call() takes any command.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis, ReplyError } from "ioredis";

const address = { host: "127.0.0.1", port: Number(process.argv[2]) };
const server = new Redis({ ...address, maxRetriesPerRequest: 5 });
/* By itself ioredis sends a command again when a connection breaks, but not after a timeout. Here
 * one place decides about both. */
const retrying = new Redis({ ...address, commandTimeout: 500, autoResendUnfulfilledCommands: false });
/* Broken connections show up in the commands that use them. */
server.on("error", () => {});
retrying.on("error", () => {});

async function untilAnswered(...command) {
    const giveUp = Date.now() + 60_000;
    for (;;) {
        try {
            return await retrying.call(...command);
        } catch (error) {
            if (error instanceof ReplyError || Date.now() > giveUp) throw error;
            /* A late answer must not be taken for that of the next command. */
            retrying.disconnect(true);
            await sleep(10);
        }
    }
}

async function like(who, post) {
    /* One id per click, chosen before the first try and used for all tries. */
    const click = randomUUID();
    const [[likes, counted]] = await untilAnswered("COUNTER.INCRBY", "example:likes", post, 1,
        click);
    console.log(`${who} likes ${post}: ${likes},`,
        counted ? "counted" : "an earlier try was counted");
}

async function comment(who, post, text) {
    /* 1 and the reply of RPUSH, or only 0: replies are not stored. */
    const [applied] = await untilAnswered("ONCE", "example:once", randomUUID(),
        "RPUSH", "example:comments", `${who}: ${text}`);
    console.log(`${who} comments on ${post},`, applied ? "stored" : "an earlier try was stored");
}

/* Simulates a network fault: the server runs the command, but its answer is lost. */
function loseTheNextAnswer() {
    retrying.call("CLIENT", "REPLY", "SKIP").catch(() => {});
}

await server.del("example:likes", "example:once", "example:comments");
/* Ids are remembered for ten minutes, longer than any client retries. */
await server.call("COUNTER.CREATE", "example:likes", "WINDOW", "10m");
await server.call("ONCE.CREATE", "example:once", "WINDOW", "10m");
await like("ann", "post:7");
loseTheNextAnswer();
await like("ben", "post:7");
await like("cleo", "post:7");
loseTheNextAnswer();
await comment("cleo", "post:7", "the best yet");

const likes = Number((await server.call("COUNTER.GET", "example:likes", "post:7"))[0]);
const info = await server.call("COUNTER.INFO", "example:likes");
const number = (name) => info[info.indexOf(name) + 1];
const comments = await server.llen("example:comments");
const requests = number("applied") + number("repeats");
console.log(`3 clicks, ${requests} requests, ${likes} likes; ${comments} comment`);
server.disconnect();
retrying.disconnect();
process.exitCode = likes === 3 && comments === 1 ? 0 : 1;
