// Keeps no history: a job that is done is deleted.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { arguments_, awaitDue, herdDue, now, printDrain, printHerd, until } from "../lib.mjs";
import { settings } from "./settings.mjs";

const { what, runs, pool, url } = arguments_();
const quiet = new Logger(() => () => {});
const preset = settings(pool, url);
preset.worker.logger = quiet;
const sql = new pg.Client({ connectionString: url });
await sql.connect();
const utils = await makeWorkerUtils({ connectionString: url, logger: quiet });
await utils.migrate();

const add = async (runAt) => {
  const begin = now();
  for (let from = 0; from < runs; from += 10000) {
    const jobs = Array.from({ length: Math.min(10000, runs - from) }, (_, i) =>
      ({ identifier: "work", payload: { id: from + i }, runAt }));
    await utils.addJobs(jobs);
  }
  return (now() - begin) / 1000;
};
const left = async () =>
  Number((await sql.query("SELECT count(*) FROM graphile_worker._private_jobs")).rows[0].count);

if (what === "drain") {
  const addSeconds = await add(undefined);
  const begin = now();
  const runner = await run({ preset, taskList: { work: async () => {} } });
  await until(async () => (await left()) === 0, 50);
  printDrain(pool, runs, (now() - begin) / 1000, addSeconds);
  await runner.stop();
} else {
  const due = herdDue(runs);
  const lateness = [];
  const runner = await run({ preset, taskList: { work: async () => { lateness.push(now() - due); } } });
  await add(new Date(due));
  await awaitDue(due);
  await until(() => lateness.length === runs);
  printHerd(pool, lateness);
  await runner.stop();
}
await utils.release();
await sql.end();
process.exit(0);
