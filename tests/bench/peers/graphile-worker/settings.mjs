// graphile-worker's own advice for throughput (worker.graphile.org/docs/performance): a local queue
// and batched completion; `pool` jobs at once and one connection more than that. POOL is varied.
export const settings = (pool, url) => ({
  worker: {
    connectionString: url,
    concurrentJobs: pool,
    maxPoolSize: Math.min(pool, 24) + 1,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    // For jobs of the future it polls; the shorter, the less late. Its least without a warning.
    pollInterval: 100,
  },
});
