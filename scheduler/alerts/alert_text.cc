#include "scheduler/alerts/alert_text.h"

#include <algorithm>
#include <map>

#include "common/safe_text.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/alerts/alert_words.h"

namespace tidemark {
namespace {

constexpr size_t kTitleLimit = 200;
constexpr size_t kLineLimit = 2000;
constexpr size_t kDigestLineLimit = 160;
constexpr size_t kDigestLines = 20;

std::string OneLine(const std::string& text, size_t limit) {
  return CleanText(SafeText(text), limit);
}

std::string Replace(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

bool Chinese(const AlertStyle& style) { return style.language == AlertLanguage::kChinese; }

std::string KindName(const AlertFact& alert, const AlertStyle& style) {
  const AlertWords* words = FindAlertWords(alert.kind);
  if (words == nullptr) return alert.kind;
  return std::string(Chinese(style) ? words->zh : words->en);
}

std::string SeverityName(const std::string& severity, const AlertStyle& style) {
  if (!Chinese(style)) return severity;
  return severity == "critical" ? "严重" : severity == "warning" ? "警告" : "提示";
}

std::string Tag(const AlertItem& item, const AlertStyle& style) {
  const std::string severity = SeverityName(item.alert.severity, style);
  const bool zh = Chinese(style);
  if (item.phase == AlertPhase::kResolved) return zh ? "[已恢复]" : "[resolved]";
  if (item.phase == AlertPhase::kRaised) return "[" + severity + "]";
  return "[" + severity + (zh ? ", 第 " : ", reminder ") + std::to_string(item.number) +
         (zh ? " 次提醒]" : "]");
}

std::string Title(const AlertItem& item, const AlertStyle& style) {
  const AlertFact& alert = item.alert;
  std::string title = "Tidemark " + Tag(item, style);
  if (!alert.job.empty()) title += " " + alert.job;
  if (alert.biz_date.has_value()) title += " " + FormatDate(*alert.biz_date);
  title += alert.job.empty() ? " " : (Chinese(style) ? "：" : ": ");
  return OneLine(title + KindName(alert, style), kTitleLimit);
}

// Lines of "name: value".
class Lines {
 public:
  explicit Lines(const AlertStyle& style) : zh_(Chinese(style)) {}

  void Add(const std::string& en, const std::string& zh, const std::string& value) {
    if (value.empty()) return;
    lines_.push_back(OneLine((zh_ ? zh + "：" : en + ": ") + value, kLineLimit));
  }
  void AddText(const std::string& text) {
    if (!text.empty()) lines_.push_back(OneLine(text, kLineLimit));
  }
  std::vector<std::string> Take() { return std::move(lines_); }

 private:
  const bool zh_;
  std::vector<std::string> lines_;
};

std::string Command(const AlertFact& alert, const AlertWords& words) {
  std::string command = Replace(std::string(words.command), "{date}",
                                alert.biz_date.has_value() ? FormatDate(*alert.biz_date) : "DATE");
  command = Replace(command, "{run}", alert.run_id.empty() ? "RUN_ID" : alert.run_id);
  // Last: a name may look like a placeholder.
  return Replace(command, "{job}", alert.job.empty() ? "JOB" : ShellWord(alert.job));
}

void AddAdvice(const AlertFact& alert, const AlertStyle& style, Lines* lines) {
  const AlertWords* words = FindAlertWords(alert.kind);
  if (!Chinese(style) || words == nullptr) {
    lines->AddText(alert.detail);
    return;
  }
  lines->Add("", "接下来", std::string(words->zh_next));
  lines->Add("", "命令", Command(alert, *words));
  lines->Add("", "原文", alert.detail);
}

AlertText One(const AlertItem& item, const AlertStyle& style) {
  const AlertFact& alert = item.alert;
  Lines lines(style);
  lines.AddText(alert.summary);
  lines.Add("Job", "任务", alert.job);
  if (alert.ns != "default") lines.Add("Namespace", "命名空间", alert.ns);
  if (alert.biz_date.has_value()) lines.Add("Date", "业务日期", FormatDate(*alert.biz_date));
  lines.Add("Since", "开始于",
            FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(alert.raised_at)), style.zone));
  if (alert.resolved_at.has_value()) {
    const absl::Time ended = absl::FromUnixSeconds(absl::ToUnixSeconds(*alert.resolved_at));
    const absl::Duration lasted = std::max(
        absl::ZeroDuration(), absl::Floor(*alert.resolved_at - alert.raised_at, absl::Seconds(1)));
    lines.Add("Ended", "已于此时恢复",
              FormatInstant(ended, style.zone) + (Chinese(style) ? "，历时 " : ", after ") +
                  DurationText(lasted));
  }
  lines.Add("Run", "运行", alert.run_id);
  if (item.phase != AlertPhase::kResolved) {
    AddAdvice(alert, style, &lines);
    if (!alert.resolved_at.has_value() && !alert.event && !alert.alert_id.empty()) {
      lines.Add("Acknowledge", "确认", "tidemark alert ack " + alert.alert_id);
    }
  }
  return {Title(item, style), lines.Take()};
}

AlertText Digest(const AlertMessage& message, const AlertStyle& style) {
  const std::string count = std::to_string(message.items.size());
  std::map<std::string, int> severities;
  for (const AlertItem& item : message.items) {
    ++severities[item.phase == AlertPhase::kResolved ? "resolved" : item.alert.severity];
  }
  std::vector<std::string> counts;
  for (const char* word : {"critical", "warning", "info", "resolved"}) {
    if (severities[word] == 0) continue;
    const std::string name = std::string(word) != "resolved" ? SeverityName(word, style)
                             : Chinese(style)                ? "已恢复"
                                                             : word;
    counts.push_back(std::to_string(severities[word]) + " " + name);
  }
  AlertText text;
  text.title = "Tidemark: " + count + (Chinese(style) ? " 条告警（" : " alerts (") +
               Join(counts, ", ") + (Chinese(style) ? "）" : ")");
  for (const AlertItem& item : message.items) {
    if (text.lines.size() == kDigestLines) break;
    const std::string more = item.alert.summary.empty() ? "" : " — " + item.alert.summary;
    text.lines.push_back(
        OneLine(Tag(item, style) + " " + KindName(item.alert, style) + more, kDigestLineLimit));
  }
  const size_t left = message.items.size() - text.lines.size();
  if (left > 0) {
    text.lines.push_back(Chinese(style) ? "以及另外 " + std::to_string(left) + " 条"
                                        : "and " + std::to_string(left) + " more");
  }
  text.lines.push_back(Chinese(style) ? "查看全部：tidemark alert list --all"
                                      : "All of them: tidemark alert list --all");
  return text;
}

}  // namespace

AlertText WriteAlertText(const AlertMessage& message, const AlertStyle& style) {
  if (message.items.empty()) return {};
  return message.items.size() == 1 ? One(message.items.front(), style) : Digest(message, style);
}

std::string JoinText(const AlertText& text, size_t limit) {
  std::string all = text.title;
  for (const std::string& line : text.lines) all += "\n" + line;
  return CleanText(all, limit);
}

}  // namespace tidemark
