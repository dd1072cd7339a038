// Keeps finished jobs, in memory.
import { Queue, Worker } from "bullmq";
import { arguments_, awaitDue, herdDue, now, printDrain, printHerd, until } from "../lib.mjs";
import { settings } from "./settings.mjs";

const { what, runs, pool } = arguments_();
const { queue: options, worker } = settings(pool, {
  host: "127.0.0.1", port: Number(process.env.BENCH_REDIS_PORT), maxRetriesPerRequest: null,
});
const queue = new Queue("work", options);
await queue.obliterate({ force: true });

const add = async (due) => {
  const begin = now();
  for (let from = 0; from < runs; from += 1000) {
    await queue.addBulk(Array.from({ length: Math.min(1000, runs - from) }, (_, i) => ({
      name: "work", data: { id: from + i },
      opts: due ? { delay: Math.max(0, due - Math.round(now())) } : {},
    })));
  }
  return (now() - begin) / 1000;
};

if (what === "drain") {
  const addSeconds = await add(0);
  const begin = now();
  const its = new Worker("work", async () => {}, worker);
  await until(async () => (await queue.getCompletedCount()) === runs, 50);
  printDrain(pool, runs, (now() - begin) / 1000, addSeconds);
  await its.close(true);
} else {
  const due = herdDue(runs);
  const lateness = [];
  const its = new Worker("work", async () => { lateness.push(now() - due); }, worker);
  await add(due);
  await awaitDue(due);
  await until(() => lateness.length === runs);
  printHerd(pool, lateness);
  await its.close(true);
}
process.exit(0);
