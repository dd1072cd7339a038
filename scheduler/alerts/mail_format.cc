#include "scheduler/alerts/mail_format.h"

#include "common/text.h"
#include "scheduler/alerts/signature.h"

namespace tidemark {
namespace {

constexpr char kEnd[] = "\r\n";
constexpr size_t kBodyText = size_t{16} * 1024;

// RFC 2047: words of at most 75 characters, each of whole UTF-8 characters, on lines of their own.
std::string EncodedWords(const std::string& text) {
  constexpr size_t kMostBytes = 42;  // of text in a word
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(begin + kMostBytes, text.size());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    if (!out.empty()) out += std::string(kEnd) + " ";
    out += "=?UTF-8?B?" + Base64(text.substr(begin, end - begin)) + "?=";
    begin = end;
  }
  return out;
}

std::string Base64Lines(const std::string& text) {
  const std::string encoded = Base64(text);
  std::string out;
  for (size_t i = 0; i < encoded.size(); i += 76) out += encoded.substr(i, 76) + kEnd;
  return out;
}

std::string MessageId(const AlertMessage& message) {
  const AlertItem& first = message.items.front();
  const std::string thread = first.alert.alert_id + "." + std::to_string(first.alert.episode);
  if (message.items.size() > 1) return "<" + message.message_id + ".digest@tidemark>";
  switch (first.phase) {
    case AlertPhase::kRaised:
      return "<" + thread + "@tidemark>";
    case AlertPhase::kReminder:
      return "<" + thread + ".reminder" + std::to_string(first.number) + "@tidemark>";
    case AlertPhase::kResolved:
      return "<" + thread + ".resolved@tidemark>";
  }
  return "";
}

}  // namespace

std::string WriteMail(const AlertMessage& message, const AlertText& text, const MailHead& head) {
  const AlertItem& first = message.items.front();
  std::string mail = "From: Tidemark <" + head.from + ">" + kEnd;
  mail += "To: ";
  for (size_t i = 0; i < head.to.size(); ++i) {
    mail += (i == 0 ? "<" : std::string(",") + kEnd + " <") + head.to[i] + ">";
  }
  mail += std::string(kEnd) + "Subject: " + EncodedWords(text.title) + kEnd;
  mail +=
      "Date: " + absl::FormatTime("%a, %d %b %Y %H:%M:%S +0000", head.date, absl::UTCTimeZone()) +
      kEnd;
  mail += "Message-ID: " + MessageId(message) + kEnd;
  if (message.items.size() == 1 && first.phase != AlertPhase::kRaised) {
    const std::string thread =
        "<" + first.alert.alert_id + "." + std::to_string(first.alert.episode) + "@tidemark>";
    mail += "In-Reply-To: " + thread + kEnd + "References: " + thread + kEnd;
  }
  mail += std::string("Auto-Submitted: auto-generated") + kEnd;
  mail += std::string("MIME-Version: 1.0") + kEnd;
  mail += std::string("Content-Type: text/plain; charset=utf-8") + kEnd;
  mail += std::string("Content-Transfer-Encoding: base64") + kEnd + kEnd;
  std::string body;
  for (const std::string& line : text.lines) body += line + kEnd;
  return mail + Base64Lines(CleanText(body, kBodyText));
}

}  // namespace tidemark
