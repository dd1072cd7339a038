// What handlers did, from their own file: evidence outside all tables.
#ifndef TIDEMARK_TESTS_CHAOS_JOURNAL_H_
#define TIDEMARK_TESTS_CHAOS_JOURNAL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tidemark {

// One line of the file, in the order in which they were appended. Events: enter; leave (done), fail
// and stop (each: the handler has returned); and the driver's: killed (that executor's process is
// gone), failover (the standby is the primary now).
struct JournalLine {
  std::string event;
  std::string batch;  // "<job>/<date or fire time>"; "-" in the driver's lines
  int attempt = 0;
  std::string executor;
  int pid = 0;
  double seconds = 0;  // monotonic
  std::string token;   // FencingToken::ToText; "-" in the driver's lines

  std::string job() const { return batch.substr(0, batch.find('/')); }
  // What grows with each change of the job's owner: the token without run and attempt.
  std::string epoch() const { return token.substr(0, 31); }
};

// Appends one line; by one write, so that lines of several processes do not mix.
void AppendJournal(const std::string& file, const JournalLine& line);
std::vector<JournalLine> ReadJournal(const std::string& file);

struct JournalVerdict {
  int enters = 0;
  int done = 0;
  std::map<std::string, int> enters_by_app;  // "e": handlers of the library, "a": of agents
  // Ran again because its executor was killed before the result was on disk: no scheduler knows
  // that it had been done.
  int again_after_kill = 0;
  int again_after_failover = 0;  // with asynchronous replication alone
  std::set<std::string> done_batches;
  std::vector<std::string> violations;
};

// `commits_may_be_lost`: replication is asynchronous.
JournalVerdict JudgeJournal(const std::vector<JournalLine>& lines, bool commits_may_be_lost);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHAOS_JOURNAL_H_
