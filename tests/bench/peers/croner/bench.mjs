// In memory: keeps nothing.
import { Cron } from "croner";
import { arguments_, now, printHerd, until } from "../lib.mjs";
import { settings } from "./settings.mjs";

const { what, runs, pool } = arguments_();
if (what === "drain") {
  console.error("croner has no backlog to drain");
  process.exit(2);
}
const due = Math.ceil((now() + 3000 + runs / 20) / 1000) * 1000;
const lateness = [];
const jobs = Array.from({ length: runs }, () =>
  new Cron(new Date(due), settings(), () => { lateness.push(now() - due); }));
await until(() => lateness.length === runs);
if (jobs.length !== runs) throw new Error("jobs were lost");
printHerd(pool, lateness);
process.exit(0);
