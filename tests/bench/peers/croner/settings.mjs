// croner (croner.56k.guru/usage/configuration): in memory, nothing durable, one timer a job. There
// is no pool. maxRuns: no search for a next time; no time zone: the due time is an instant.
export const settings = () => ({ maxRuns: 1 });
