// What each kind of alert is called, what happens next, and the command to type, in Chinese; in
// English only the name, because the alert's own text has the rest.
#ifndef TIDEMARK_SCHEDULER_ALERTS_ALERT_WORDS_H_
#define TIDEMARK_SCHEDULER_ALERTS_ALERT_WORDS_H_

#include <string>
#include <string_view>

namespace tidemark {

struct AlertWords {
  std::string_view kind;
  std::string_view en;       // "run failed"
  std::string_view zh;       // "运行失败"
  std::string_view zh_next;  // what happens by itself
  std::string_view command;  // with {job}, {date}, {run}; "": the alert's own text has it
};

// The words of a kind, or nullptr for one that this table does not know.
const AlertWords* FindAlertWords(std::string_view kind);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_ALERT_WORDS_H_
