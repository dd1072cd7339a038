// In memory: keeps nothing.
import { Cron } from "croner";
import { arguments_, awaitDue, herdDue, now, printHerd, until } from "../lib.mjs";
import { settings } from "./settings.mjs";

const { what, runs, pool } = arguments_();
if (what === "drain") {
  console.error("croner has no backlog to drain");
  process.exit(2);
}
const due = herdDue(runs);
const lateness = [];
const jobs = Array.from({ length: runs }, () =>
  new Cron(new Date(due), settings(), () => { lateness.push(now() - due); }));
await awaitDue(due);
await until(() => lateness.length === runs);
if (jobs.length !== runs) throw new Error("jobs were lost");
printHerd(pool, lateness);
process.exit(0);
