// What the benchmarks of the Node peers share. Usage of each: bench.mjs drain|herd RUNS POOL, with
// the database's URL in BENCH_DATABASE_URL; prints one line of JSON.

/** Milliseconds since 1970, with fractions. */
export const now = () => performance.timeOrigin + performance.now();

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/** Looks every `every` ms until `condition` holds; throws after ten minutes. */
export async function until(condition, every = 20) {
  const end = now() + 600000;
  while (!(await condition())) {
    if (now() > end) throw new Error("it does not come to an end");
    await wait(every);
  }
}

/** When a herd of `runs` is due: late enough for all of it to be added before. */
export const herdDue = (runs) => Math.ceil((now() + 4000 + 2 * runs) / 1000) * 1000;

/** To be called when all have been added: later ones would be late by themselves. */
export async function awaitDue(due) {
  if (now() > due) throw new Error("the herd was due before all of it was added");
  await wait(due - now());
}

export function percentile(samples, share) {
  const sorted = Float64Array.from(samples).sort();
  const at = Math.max(1, Math.ceil(share * sorted.length)) - 1;
  return sorted[Math.min(at, sorted.length - 1)];
}

export function arguments_() {
  const [what, runs, pool] = process.argv.slice(2);
  if (!["drain", "herd"].includes(what) || !(Number(runs) > 0) || !(Number(pool) > 0)) {
    console.error("usage: bench.mjs drain|herd RUNS POOL");
    process.exit(2);
  }
  return { what, runs: Number(runs), pool: Number(pool), url: process.env.BENCH_DATABASE_URL };
}

export function printDrain(pool, runs, seconds, addSeconds) {
  console.log(JSON.stringify({
    pool, runs, seconds, per_second: runs / seconds, add_seconds: addSeconds,
    per_second_with_add: runs / (seconds + addSeconds),
  }));
}

export function printHerd(pool, lateness) {
  console.log(JSON.stringify({
    pool, runs: lateness.length, lateness_p50: percentile(lateness, 0.5),
    lateness_p99: percentile(lateness, 0.99), lateness_max: percentile(lateness, 1),
  }));
}
