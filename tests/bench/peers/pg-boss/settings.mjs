// pg-boss (github.com/timgit/pg-boss, docs/api): POOL fetchers of batches of 1,000 each. For the
// drain they call fetch() and complete() one after the other, because work() waits at least half a
// second between two batches; for lateness work() with the shortest pollingIntervalSeconds allowed.
export const settings = (pool, url) => ({
  boss: { connectionString: url, max: pool + 2, supervise: false, schedule: false },
  batchSize: 1000,
  work: { batchSize: 1000, pollingIntervalSeconds: 0.5 },
});
