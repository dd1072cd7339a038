// BullMQ (docs.bullmq.io/guide/workers/concurrency, …/going-to-production): one worker process with
// POOL jobs at once; finished jobs are kept (its default). Redis as "going to production" and
// redis.io/docs/management/persistence want it for durability: appendonly yes, and, as durable as a
// commit of PostgreSQL, appendfsync always; maxmemory-policy noeviction (run.sh).
export const settings = (pool, connection) => ({
  queue: { connection },
  worker: { connection, concurrency: pool },
});
