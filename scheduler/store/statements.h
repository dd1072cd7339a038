// Every SQL statement of the scheduler's store, by name. Values are always bound. Tables carry no
// schema: the transaction's search_path has it. Time is always tidemark_now().
#ifndef TIDEMARK_SCHEDULER_STORE_STATEMENTS_H_
#define TIDEMARK_SCHEDULER_STORE_STATEMENTS_H_

#include <string_view>

namespace tidemark::sql {

// ---------------------------------------------------------------- migrations
extern const std::string_view kHasMigrationTable;     // → whether
extern const std::string_view kAppliedMigrations;     // → version, checksum
extern const std::string_view kMigrationSettings;     // $1 schema
extern const std::string_view kLockMigrations;        // $1 schema; until the transaction's end
extern const std::string_view kCreateSchema;          // script
extern const std::string_view kCreateMigrationTable;  // script
extern const std::string_view kRecordMigration;       // $1 version, $2 name, $3 checksum, $4 needs
extern const std::string_view kLiveNodes;             // their ids in one text; NULL: none is up

// ---------------------------------------------------------------- terms
// $1 node, $2 incarnation, $3 address, $4 version, $5 lease µs, $6 also while another incarnation's
// lease lasts (a new process: its operator's drain is over), $7 an incarnation that may always be
// replaced → the database's time; no row: another has the lease.
extern const std::string_view kRegisterNode;
extern const std::string_view kAddFence;  // $1 node, $2 incarnation
extern const std::string_view kAddFlush;  // $1 node, $2 incarnation
// Owners whose lease is over and earlier incarnations of $1, but for ($1, $2) → node, incarnation.
extern const std::string_view kPredecessors;
extern const std::string_view kFence;        // $1 node, $2 incarnation → whether there was no row
extern const std::string_view kCountShards;  // → rows of shard
// Takes shards that nobody owns or whose owner is fenced, up to a fair share. $1 node,
// $2 incarnation, $3 PostgreSQL's timeline, $4 µs → shard, epoch, whether it was taken on another
// timeline before, or had been within the µs.
extern const std::string_view kClaimShards;
extern const std::string_view kTellCluster;  // nodes or owners change: all look at once
// $1 node, $2 incarnation → its share, what it owns, shards without a live owner, rows of shard, µs
// until the first lease of another node ends, addresses of live nodes, a line each, executors that
// operators drained, a line each, and likewise the nodes whose lease lasts for longer than any
// should
extern const std::string_view kLookAtCluster;
// $1 node, $2 incarnation, $3 lease µs, $4 clock_offset, $5 clock_uncertainty, $6 lag → the
// database's time; no row: the lease is over.
extern const std::string_view kRenewLease;
// $1 node, $2 incarnation → whether the node's lease row is that incarnation's (NULL: there is
// none), whether it lasts, whether the fence is marked (NULL: there is none), shards owned
extern const std::string_view kLeaseRows;
extern const std::string_view kFreeShards;    // $1 node, $2 incarnation
extern const std::string_view kEndLease;      // $1 node, $2 incarnation
extern const std::string_view kForgetFences;  // of long ago, nothing refers to them
extern const std::string_view kForgetFlushes;
extern const std::string_view kForgetNodes;       // whose lease ended long ago
extern const std::string_view kTimeline;          // → number
extern const std::string_view kEnsurePartitions;  // → number made
extern const std::string_view kDropPartition;     // history days, log days → its name or ""

// ---------------------------------------------------------------- reads
// A job's columns and those of one of its versions, by job_id and version. $1 shards; a cursor of
// the transaction, read by kFetchJobs until it has no more.
extern const std::string_view kDeclareJobs;
extern const std::string_view kFetchJobs;
extern const std::string_view kLoadJobsById;  // $1 job ids; deleted ones, too
// $1 names → name, version, include, weekend, valid_from, retroactive, dates in one text
extern const std::string_view kLoadCalendars;
extern const std::string_view kUnsettledJobs;  // (shards) → job_id, ascending
extern const std::string_view kOpenAlerts;     // → dedup_key
extern const std::string_view kExecutorsUp;    // → executor_id, app, namespace, registration
extern const std::string_view kLoadRuns;       // $1 shards → columns of a run
extern const std::string_view kLoadBackfills;  // $1 shards → columns of one that has not ended
extern const std::string_view kLoadTried;      // $1 backfill ids → backfill, date, status, ended
// $1 job ids, $2 dates; $3 jobs of which every date noted and not settled is read, too
extern const std::string_view kLedger;
// $1 job ids, $2 dates, $3 job ids, $4 upstream names, $5 offsets → of dates that are not DONE:
// job_id, biz_date, upstream, its date, status, reason
extern const std::string_view kUpstream;
extern const std::string_view kJobsNamed;
extern const std::string_view kVerdictsOf;  // $1 job ids, $2 dates → those that have one
// $1 shards, $2 known ids, $3 limit. The last columns are tidemark_now(), and whether there is
// anything in the inbox of the shards: one row at least has them.
extern const std::string_view kOpenCommands;
extern const std::string_view kStillOpen;  // $1 command ids
// $1 shards, $2 known run_ids, $3 attempts, $4 received_at, $5 limit of those not known → run_id,
// attempt, received_at, registration, refused, outcome, message, result, result_rows,
// result_digest, checkpoint, whether it is known (then without the rest)
extern const std::string_view kOpenInbox;

// ---------------------------------------------------------------- flush
extern const std::string_view kHoldFence;    // $1 node, $2 incarnation → time
extern const std::string_view kSettleFlush;  // $1 node, $2 incarnation → seq, locked
extern const std::string_view kMakeExecutors;
extern const std::string_view kLockExecutors;
extern const std::string_view kKnownIncarnations;
extern const std::string_view kWriteExecutor;
extern const std::string_view kAddIncarnation;
extern const std::string_view kSkipRuns;
extern const std::string_view kWriteWatermarks;
extern const std::string_view kDeleteWatermarks;
extern const std::string_view kForgetDue;  // $1 job, $2 dates that stay
extern const std::string_view kNoteDue;    // $1 job ids, $2 dates, $3 fire times
extern const std::string_view kDueUntil;   // $1 job ids, $2 dates
// $1 job ids, $2 names, $3 namespaces, $4 dates, $5 expected at, $6 verdicts, $7 states, $8 run ids
// → job_id, biz_date of those that had none
extern const std::string_view kWriteVerdicts;
extern const std::string_view kSettleVerdicts;  // $1 job ids, $2 dates
extern const std::string_view kResetCursor;     // $1 job, $2 time
extern const std::string_view kAddSkippedRanges;
extern const std::string_view kUpdateJobs;
extern const std::string_view kArchiveWatermarks;
extern const std::string_view kUpdateExecutors;
extern const std::string_view kRaiseAlerts;
extern const std::string_view kResolveAlerts;
extern const std::string_view kAddAudits;
extern const std::string_view
    kAddCascades;  // $1 upstream names, $2 from, $3 to, $4 reasons, $5 actors
extern const std::string_view kTellUpstreams;  // $1 names, $2 node, $3 incarnation that tells
extern const std::string_view kWriteBackfills;
extern const std::string_view kStartDrill;      // $1 drill, $2 job, $3 dates, $4 actor, $5 time
extern const std::string_view kFinishCommands;  // … $4 jobs left out
extern const std::string_view kNamesOfJobs;
// $1 run_ids, $2 attempts, $3 registrations (0: any), $4 refused, $5 outcomes, $6 messages,
// $7 results, $8 result_rows, $9 digests, $10 checkpoints, $11 apps, $12 namespaces; those that
// are live alone
extern const std::string_view kAddInbox;
extern const std::string_view kTakeInbox;  // $1 run_ids, $2 attempts, $3 jobs left out

// ---------------------------------------------------------------- alerts
extern const std::string_view kUnloggedAlerts;  // $1 limit; locked
extern const std::string_view kMarkLogged;      // $1 alert ids

// ---------------------------------------------------------------- logs of runs
// $1 run_ids, $2 attempts, $3 recorded_at → number of the key (from 1), executor_id, registration,
// reached, marked, ended; a row for each process that has or had the attempt.
extern const std::string_view kFindRunLogs;
extern const std::string_view kUnmarkRunLogs;  // as above
// $1 recorded_at, $2 run_ids, $3 attempts, $4 start_byte, $5 data, $6 ended
extern const std::string_view kAddRunLogs;
// $1 run_id, $2 attempt (0: the last), $3 µs → the run's last attempt, whether the run has ended,
// the attempt asked for, whether it is over, and for longer than the µs.
extern const std::string_view kRunLogState;
// $1 run_id, $2 attempt, $3 recorded_at → reached, ended
extern const std::string_view kRunLogEnd;
// $1 run_id, $2 attempt, $3 recorded_at, $4 offset, $5 bytes → start_byte, data in hex; so many
// rows from the offset on that they have the bytes, if there are as many.
extern const std::string_view kReadRunLog;

}  // namespace tidemark::sql

#endif  // TIDEMARK_SCHEDULER_STORE_STATEMENTS_H_
