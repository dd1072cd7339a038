// croner (croner.56k.guru/usage): in memory, nothing durable, one timer a job. There is no pool; it
// is the floor of what a timer in Node can do.
export const settings = () => ({ timezone: "UTC" });
