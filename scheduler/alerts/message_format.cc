#include "scheduler/alerts/message_format.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "common/safe_text.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/alerts/json.h"

namespace tidemark {
namespace {

// Bytes of text that each receiver takes, less than its own limit says.
constexpr size_t kDingTalkText = 6000;
constexpr size_t kWeComText = 2000;  // 2,048 are cut by it
constexpr size_t kFeishuText = 6000;
constexpr size_t kSlackText = 2900;

constexpr size_t kFieldLimit = 1024;
constexpr size_t kDetailLimit = 4096;
constexpr size_t kMostEntries = 60;  // of a digest in full; the rest is counted

std::string PhaseWord(AlertPhase phase) {
  return phase == AlertPhase::kRaised     ? "raised"
         : phase == AlertPhase::kReminder ? "reminder"
                                          : "resolved";
}

std::string Cut(const std::string& text, size_t limit) { return CleanText(text, limit); }

std::string WebhookEntry(const AlertItem& item, size_t detail_limit) {
  const AlertFact& a = item.alert;
  JsonObject entry;
  // The same for every try: a receiver drops what it has seen.
  entry.Text("id", a.alert_id + "/" + std::to_string(a.episode) + "/" + PhaseWord(item.phase) +
                       "/" + std::to_string(item.number));
  entry.Text("alert_id", a.alert_id).Number("episode", a.episode);
  entry.Text("phase", PhaseWord(item.phase));
  if (item.phase == AlertPhase::kReminder) entry.Number("reminder", item.number);
  entry.Text("kind", Cut(a.kind, kFieldLimit)).Text("severity", a.severity);
  entry.Text("namespace", Cut(a.ns, kFieldLimit));
  if (!a.job.empty()) entry.Text("job", Cut(a.job, kFieldLimit));
  if (a.biz_date.has_value()) entry.Text("biz_date", FormatDate(*a.biz_date));
  if (!a.run_id.empty()) entry.Text("run_id", a.run_id);
  entry.Text("summary", Cut(a.summary, kFieldLimit)).Text("detail", Cut(a.detail, detail_limit));
  entry.Text("raised_at", FormatInstant(a.raised_at));
  if (a.resolved_at.has_value()) entry.Text("resolved_at", FormatInstant(*a.resolved_at));
  if (a.event) entry.Raw("event", "true");
  return entry.Take();
}

std::string AlertmanagerEntry(const AlertItem& item, const AlertStyle& style, size_t detail_limit) {
  const AlertFact& a = item.alert;
  JsonObject labels;
  labels.Text("alertname", "Tidemark_" + Cut(a.kind, kFieldLimit));
  labels.Text("severity", a.severity).Text("namespace", Cut(a.ns, kFieldLimit));
  if (!a.job.empty()) labels.Text("tidemark_job", Cut(a.job, kFieldLimit));
  if (a.biz_date.has_value()) labels.Text("biz_date", FormatDate(*a.biz_date));
  labels.Text("alert_id", a.alert_id);
  JsonObject notes;
  AlertMessage one;
  one.items = {item};
  notes.Text("title", WriteAlertText(one, style).title);
  notes.Text("summary", Cut(a.summary, kFieldLimit));
  notes.Text("description", Cut(a.detail, detail_limit));
  if (!a.run_id.empty()) notes.Text("run_id", a.run_id);
  JsonObject entry;
  entry.Raw("labels", labels.Take()).Raw("annotations", notes.Take());
  entry.Text("startsAt", FormatInstant(a.raised_at));
  // Without an end Alertmanager gives one up after its resolve_timeout (5 min), which would tell a
  // recovery that was none.
  const absl::Duration shown = absl::Hours(a.event ? 24 : 24 * 366);
  const absl::Time end = a.resolved_at.value_or(a.raised_at + shown);
  entry.Text("endsAt", FormatInstant(end));
  return entry.Take();
}

size_t DetailLimit(const AlertMessage& message) {
  return message.items.size() == 1 ? kDetailLimit : 256;
}

absl::Status Answered(const HttpResponse& response, const std::string& what) {
  return absl::FailedPreconditionError(
      ToAbsl("it answered HTTP " + std::to_string(response.status) + what));
}

std::string Quoted(const std::string& body) {
  const std::string text = CleanText(SafeText(body.substr(0, 600)), 300);
  return text.empty() ? " with nothing" : ": " + text;
}

// The body says with a number how it went: OK when it is 0.
absl::Status JudgeNumber(const HttpResponse& response, const std::string& name) {
  if (absl::Status status = JudgeStatus(response); !status.ok()) return status;
  google::protobuf::Struct object;
  if (!google::protobuf::util::JsonStringToMessage(response.body, &object).ok()) {
    return Answered(response, ", but no JSON object" + Quoted(response.body));
  }
  const auto found = object.fields().find(name);
  if (found == object.fields().end() ||
      found->second.kind_case() != google::protobuf::Value::kNumberValue) {
    return Answered(response, " without the number " + name + Quoted(response.body));
  }
  if (found->second.number_value() == 0) return absl::OkStatus();
  return Answered(response, Quoted(response.body));
}

// Slack's own way to write these three, which begin mentions, links and entities.
std::string SlackEscape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string WebhookBody(const AlertMessage& message, const AlertStyle& style) {
  const AlertText text = WriteAlertText(message, style);
  JsonList entries;
  const size_t shown = std::min(message.items.size(), kMostEntries);
  for (size_t i = 0; i < shown; ++i) {
    entries.Raw(WebhookEntry(message.items[i], DetailLimit(message)));
  }
  JsonObject body;
  body.Number("version", 1).Text("title", text.title);
  body.Text("text", JoinText(text, kDingTalkText));
  body.Raw("alerts", entries.Take());
  if (shown < message.items.size()) {
    body.Number("left_out", static_cast<int64_t>(message.items.size() - shown));
  }
  return body.Take();
}

std::string AlertmanagerBody(const AlertMessage& message, const AlertStyle& style) {
  JsonList entries;
  const size_t shown = std::min(message.items.size(), kMostEntries);
  for (size_t i = 0; i < shown; ++i) {
    entries.Raw(AlertmanagerEntry(message.items[i], style, DetailLimit(message)));
  }
  return entries.Take();
}

std::string DingTalkBody(const AlertText& text) {
  const std::string content = JsonObject().Text("content", JoinText(text, kDingTalkText)).Take();
  return JsonObject().Text("msgtype", "text").Raw("text", content).Take();
}

std::string WeComBody(const AlertText& text) {
  const std::string content = JsonObject().Text("content", JoinText(text, kWeComText)).Take();
  return JsonObject().Text("msgtype", "text").Raw("text", content).Take();
}

std::string FeishuBody(const AlertText& text, int64_t unix_seconds, const std::string& sign) {
  // A post's text elements are plain; a message of type text would take <at …> for a mention.
  std::string lines;
  for (const std::string& line : text.lines) lines += (lines.empty() ? "" : "\n") + line;
  const std::string element =
      JsonObject().Text("tag", "text").Text("text", CleanText(lines, kFeishuText)).Take();
  const std::string paragraphs = JsonList().Raw(JsonList().Raw(element).Take()).Take();
  const std::string page = JsonObject().Text("title", text.title).Raw("content", paragraphs).Take();
  const std::string post = JsonObject().Raw("zh_cn", page).Take();
  JsonObject body;
  if (!sign.empty()) body.Text("timestamp", std::to_string(unix_seconds)).Text("sign", sign);
  body.Text("msg_type", "post").Raw("content", JsonObject().Raw("post", post).Take());
  return body.Take();
}

std::string SlackBody(const AlertText& text) {
  const std::string content = JsonObject()
                                  .Text("type", "plain_text")
                                  .Raw("emoji", "false")
                                  .Text("text", JoinText(text, kSlackText))
                                  .Take();
  const std::string block = JsonObject().Text("type", "section").Raw("text", content).Take();
  // `text` is what notifications show.
  return JsonObject()
      .Text("text", SlackEscape(text.title))
      .Raw("blocks", JsonList().Raw(block).Take())
      .Take();
}

absl::Status JudgeStatus(const HttpResponse& response) {
  if (response.status >= 200 && response.status < 300) return absl::OkStatus();
  if (response.status >= 300 && response.status < 400) {
    return Answered(response, ", a redirect, which is not followed: give the final URL");
  }
  return Answered(response, Quoted(response.body));
}

absl::Status JudgeErrcode(const HttpResponse& response) { return JudgeNumber(response, "errcode"); }

absl::Status JudgeFeishu(const HttpResponse& response) { return JudgeNumber(response, "code"); }

}  // namespace tidemark
