// Reading one field of a cron expression. Internal to the parser.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_CRON_FIELD_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_CRON_FIELD_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/time/cron_text.h"

namespace tidemark {

// What a field says. Bit i of `values` stands for the number i as written (in a year field for
// 1970 + i); weekday numbers are the dialect's own.
struct FieldValues {
  std::array<uint64_t, 4> values{};
  uint32_t days_from_last = 0;  // as in CronFields
  uint32_t nearest_weekdays = 0;
  uint32_t last_nearest = 0;
  int nth = 0;
  bool has_numbers = false;  // of weekdays, not of steps
};

// Reads one field. A throw-away object on the stack: it refers to the texts it is given.
class FieldParser {
 public:
  // `text` is the field, a part of `expr`.
  FieldParser(std::string_view expr, std::string_view text, const FieldRule& rule, Dialect dialect)
      : expr_(expr), text_(text), rule_(rule), dialect_(dialect) {}

  absl::StatusOr<FieldValues> Parse();

 private:
  // A number or name, read from the item at `pos_`.
  struct Value {
    int number = 0;
    bool named = false;
    size_t begin = 0;
  };

  absl::Status ParseItem();
  absl::Status ParseRange(bool has_star);
  absl::Status ParseLastDay();
  absl::Status ParseNearest(const Value& day);
  absl::Status ParseWeekdayRank(const Value& day);
  absl::Status ParseStep(int* step);
  absl::StatusOr<Value> ParseValue();
  absl::StatusOr<Value> ParseNumber();
  absl::StatusOr<Value> ParseName();
  absl::Status AddRange(const Value& from, const Value& to, int step);
  absl::Status RefuseRest();
  absl::Status RefuseCharacter();
  absl::Status RefuseWrap(const Value& from, const Value& to);

  bool IsList() const { return text_.find(',') != text_.npos; }
  bool AtEnd() const { return pos_ >= item_end_; }
  char Peek() const { return AtEnd() ? '\0' : text_[pos_]; }
  // Upper case of the character at the position.
  char PeekLetter() const;
  bool extended() const { return dialect_ != Dialect::kVixie; }
  std::string_view Item() const { return text_.substr(item_begin_, item_end_ - item_begin_); }
  void Add(int value);
  // `at` is an offset in the field; `hint` is the whole item as it was probably meant.
  absl::Status Error(size_t at, const std::string& reason, const std::string& hint = "") const;

  const std::string_view expr_, text_;
  const FieldRule& rule_;
  const Dialect dialect_;
  FieldValues out_;
  size_t item_begin_ = 0, item_end_ = 0, pos_ = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_CRON_FIELD_H_
