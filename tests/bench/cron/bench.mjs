// Parse and next of Tidemark beside croner and cron-parser, in one run on one machine.
//   node bench.mjs PATH/TO/cron_bench
// All walk along the fires of the same expressions in America/New_York from 2026 on.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Cron } from 'croner';
import { CronExpressionParser } from 'cron-parser';

const file = fileURLToPath(new URL('expressions.txt', import.meta.url));
const expressions = readFileSync(file, 'utf8').trim().split('\n');
const zone = 'America/New_York';
const begin = new Date('2026-01-01T00:00:00Z');
const end = new Date('2100-01-01T00:00:00Z');

// Nanoseconds of one call, after a warm-up, over at least half a second.
function measure(call) {
  for (let i = 0; i < 200; i++) call();
  let calls = 0;
  const start = process.hrtime.bigint();
  let now;
  do {
    for (let i = 0; i < 20; i++) call();
    calls += 20;
    now = process.hrtime.bigint();
  } while (now - start < 500_000_000n);
  return Number(now - start) / calls;
}

function walker(next) {
  let time = begin;
  return () => {
    const fire = next(time);
    time = fire && fire < end ? fire : begin;
  };
}

function croner(text) {
  const job = new Cron(text, { timezone: zone, paused: true });
  return {
    parse: measure(() => new Cron(text, { timezone: zone, paused: true })),
    next: measure(walker((time) => job.nextRun(time))),
  };
}

function cronParser(text) {
  const options = (time) => ({ tz: zone, currentDate: time });
  const job = CronExpressionParser.parse(text, options(begin));
  return {
    parse: measure(() => CronExpressionParser.parse(text, options(begin))),
    next: measure(walker((time) => {
      job.reset(time);
      return job.next().toDate();
    })),
  };
}

function tidemark(program) {
  const report = JSON.parse(execFileSync(program, ['--benchmark_format=json'], {
    env: { ...process.env, TIDEMARK_BENCH_EXPRESSIONS: file },
    stdio: ['ignore', 'pipe', 'ignore'],
  }));
  return Object.fromEntries(report.benchmarks.map((b) => [b.name, b.real_time]));
}

const ours = tidemark(process.argv[2]);
const row = (cells) => console.log(cells.map((c, i) => String(c)[i ? 'padStart' : 'padEnd'](i ? 12 : 24)).join(''));
row(['ns a call', 'tidemark', 'croner', 'cron-parser', '× croner', '× cron-p.']);
for (const kind of ['parse', 'next']) {
  for (const text of expressions) {
    const mine = ours[`${kind}|${text}`];
    const a = croner(text)[kind];
    const b = cronParser(text)[kind];
    row([`${kind} ${text}`, mine.toFixed(0), a.toFixed(0), b.toFixed(0),
      (a / mine).toFixed(0), (b / mine).toFixed(0)]);
  }
}
