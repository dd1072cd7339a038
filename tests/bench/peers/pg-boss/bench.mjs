// Keeps finished jobs (archives them after 12 hours).
import PgBoss from "pg-boss";
import { arguments_, awaitDue, herdDue, now, printDrain, printHerd, until } from "../lib.mjs";
import { settings } from "./settings.mjs";

const { what, runs, pool, url } = arguments_();
const { boss: options, batchSize, work } = settings(pool, url);
const boss = new PgBoss(options);
boss.on("error", (error) => { console.error(error); process.exit(1); });
await boss.start();
await boss.createQueue("work");

const add = async (startAfter) => {
  const begin = now();
  for (let from = 0; from < runs; from += 10000) {
    const jobs = Array.from({ length: Math.min(10000, runs - from) }, (_, i) =>
      ({ name: "work", data: { id: from + i }, startAfter }));
    await boss.insert(jobs);
  }
  return (now() - begin) / 1000;
};

if (what === "drain") {
  const addSeconds = await add(undefined);
  let done = 0;
  const begin = now();
  await Promise.all(Array.from({ length: pool }, async () => {
    for (;;) {
      const jobs = await boss.fetch("work", { batchSize });
      if (!jobs || jobs.length === 0) return;
      await boss.complete("work", jobs.map((job) => job.id));
      done += jobs.length;
    }
  }));
  if (done !== runs) throw new Error(`${done} of ${runs} jobs`);
  printDrain(pool, runs, (now() - begin) / 1000, addSeconds);
} else {
  const due = herdDue(runs);
  const lateness = [];
  for (let i = 0; i < pool; ++i) {
    await boss.work("work", work, async (jobs) => {
      const entered = now();
      for (let j = 0; j < jobs.length; ++j) lateness.push(entered - due);
    });
  }
  await add(new Date(due));
  await awaitDue(due);
  await until(() => lateness.length === runs);
  printHerd(pool, lateness);
}
process.exit(0);
