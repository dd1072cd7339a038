#include "scheduler/core/time/cron_field.h"

#include <algorithm>
#include <cctype>

namespace tidemark {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string Bounds(const FieldRule& rule) {
  return std::to_string(rule.min) + "–" + std::to_string(rule.max);
}

// How the dialect counts weekdays, for an error; "" in other fields.
std::string WeekdayNote(const FieldRule& rule, Dialect dialect) {
  if (rule.kind != FieldKind::kWeekdays) return {};
  switch (dialect) {
    case Dialect::kQuartz:
      return ", where 1 is SUN and 7 is SAT";
    case Dialect::kSpring:
      return ", where 1 is MON, 0 and 7 are SUN";
    default:
      return ", where 0 and 7 are SUN";
  }
}

// What a number outside its field is usually meant to be; "": no idea.
std::string_view MeantInstead(FieldKind kind, int number) {
  if (kind == FieldKind::kHours && number == 24) return "0";
  if (kind == FieldKind::kMonths && number == 0) return "1";
  if (kind == FieldKind::kWeekdays && number == 0) return "SUN";
  return {};
}

}  // namespace

absl::StatusOr<FieldValues> FieldParser::Parse() {
  for (size_t begin = 0; begin <= text_.size(); begin = item_end_ + 1) {
    item_begin_ = pos_ = begin;
    item_end_ = std::min(text_.find(',', begin), text_.size());
    if (AtEnd()) return Error(begin, "an item of the list is empty");
    if (absl::Status status = ParseItem(); !status.ok()) return status;
  }
  return out_;
}

absl::Status FieldParser::ParseItem() {
  if (Peek() == '*') {
    ++pos_;
    return ParseRange(true);
  }
  if (Peek() == '/') return ParseRange(true);
  if (extended() && rule_.kind == FieldKind::kDays && PeekLetter() == 'L') return ParseLastDay();
  if (extended() && rule_.kind == FieldKind::kWeekdays && Item().size() == 1 &&
      PeekLetter() == 'L') {
    if (dialect_ == Dialect::kSpring) {
      return Error(pos_, "L needs a weekday before it in the Spring dialect", "5L");
    }
    if (IsList()) return Error(pos_, "L stands alone: no list");
    ++pos_;
    Add(rule_.max);
    return absl::OkStatus();
  }
  return ParseRange(false);
}

absl::Status FieldParser::ParseRange(bool has_star) {
  Value from{rule_.first, false, pos_};
  Value to{rule_.max, false, pos_};
  bool single = false;
  if (!has_star) {
    absl::StatusOr<Value> value = ParseValue();
    if (!value.ok()) return value.status();
    from = *value;
    single = true;
    if (extended() && rule_.kind == FieldKind::kDays && PeekLetter() == 'W') {
      return ParseNearest(from);
    }
    if (extended() && rule_.kind == FieldKind::kWeekdays &&
        (Peek() == '#' || PeekLetter() == 'L')) {
      return ParseWeekdayRank(from);
    }
    if (Peek() == '-') {
      ++pos_;
      if (AtEnd()) return Error(pos_, "the range has no end");
      value = ParseValue();
      if (!value.ok()) return value.status();
      to = *value;
      single = false;
    }
  }
  int step = 1;
  if (Peek() == '/') {
    if (absl::Status status = ParseStep(&step); !status.ok()) return status;
  } else if (single) {
    to = from;
  }
  if (!AtEnd()) return RefuseRest();
  return AddRange(from, to, step);
}

// L, L-n, LW, L-nW in the day-of-month field.
absl::Status FieldParser::ParseLastDay() {
  ++pos_;
  int back = 0;
  if (Peek() == '-') {
    ++pos_;
    const size_t at = pos_;
    if (!IsDigit(Peek())) return Error(at, "L- needs the number of days before the last", "L-1");
    for (; IsDigit(Peek()); ++pos_) back = std::min(back * 10 + (Peek() - '0'), 1000);
    if (back > 30) return Error(at, "L-n goes back at most 30 days");
  }
  const bool nearest = PeekLetter() == 'W';
  if (nearest) ++pos_;
  if (!AtEnd()) return RefuseRest();
  (nearest ? out_.last_nearest : out_.days_from_last) |= uint32_t{1} << back;
  return absl::OkStatus();
}

absl::Status FieldParser::ParseNearest(const Value& day) {
  ++pos_;
  if (!AtEnd()) return RefuseRest();
  out_.nearest_weekdays |= uint32_t{1} << day.number;
  return absl::OkStatus();
}

// dL and d#n in the day-of-week field; `day` has been read.
absl::Status FieldParser::ParseWeekdayRank(const Value& day) {
  const char mark = Peek() == '#' ? '#' : 'L';
  if (IsList()) {
    return Error(pos_, std::string(1, mark) + " in the day-of-week field stands alone: no list");
  }
  ++pos_;
  if (mark == '#') {
    if (Peek() < '1' || Peek() > '5') {
      return Error(pos_, "# needs a number from 1 to 5: the n-th such weekday of the month");
    }
    out_.nth = Peek() - '0';
    ++pos_;
  } else {
    out_.nth = -1;
  }
  if (!AtEnd()) return RefuseRest();
  Add(day.number);
  return absl::OkStatus();
}

absl::Status FieldParser::ParseStep(int* step) {
  ++pos_;
  const size_t at = pos_;
  if (AtEnd()) return Error(at, "the step is missing after /");
  if (!IsDigit(Peek())) return Error(at, "the step must be a number");
  *step = 0;
  for (; IsDigit(Peek()); ++pos_) *step = std::min(*step * 10 + (Peek() - '0'), 100000);
  if (*step == 0) return Error(at, "a step of 0 never moves on: write 1 or more");
  if (*step > rule_.max_step) {
    return Error(at, "the step " + std::string(text_.substr(at, std::min<size_t>(pos_ - at, 20))) +
                         " is wider than the field; the widest is " +
                         std::to_string(rule_.max_step));
  }
  return absl::OkStatus();
}

absl::StatusOr<FieldParser::Value> FieldParser::ParseValue() {
  if (IsDigit(Peek())) return ParseNumber();
  if (IsLetter(Peek())) return ParseName();
  return RefuseCharacter();
}

absl::StatusOr<FieldParser::Value> FieldParser::ParseNumber() {
  Value value{0, false, pos_};
  for (; IsDigit(Peek()); ++pos_) {
    value.number = std::min(value.number * 10 + (Peek() - '0'), 1000000);
  }
  const size_t digits = pos_ - value.begin;
  const std::string number(text_.substr(value.begin, std::min<size_t>(digits, 20)));
  if (rule_.kind == FieldKind::kYears && digits != 4) {
    return Error(value.begin, "a year has four digits");
  }
  if (value.number < rule_.min || value.number > rule_.max) {
    return Error(value.begin,
                 number + " is outside " + Bounds(rule_) + WeekdayNote(rule_, dialect_),
                 std::string(MeantInstead(rule_.kind, value.number)));
  }
  if (rule_.kind == FieldKind::kWeekdays) out_.has_numbers = true;
  return value;
}

absl::StatusOr<FieldParser::Value> FieldParser::ParseName() {
  const size_t begin = pos_;
  size_t end = begin;
  while (end < item_end_ && IsLetter(text_[end])) ++end;
  const std::string_view letters = text_.substr(begin, end - begin);
  const int number = NameValue(letters.substr(0, 3), rule_, dialect_);
  const bool last = letters.size() == 4 && (letters[3] == 'L' || letters[3] == 'l') && extended() &&
                    rule_.kind == FieldKind::kWeekdays;
  if (number >= 0 && (letters.size() == 3 || last)) {
    pos_ = begin + 3;
    return Value{number, true, begin};
  }
  if (number >= 0) {
    return Error(begin, "names have three letters", std::string(letters.substr(0, 3)));
  }
  return RefuseCharacter();
}

absl::Status FieldParser::AddRange(const Value& from, const Value& to, int step) {
  int first = from.number;
  int last = to.number;
  if (rule_.kind == FieldKind::kWeekdays && rule_.min == 0 && first > 0 && last == 0 &&
      (to.named || extended())) {
    last = 7;  // Sunday ends a week as well as it begins one
  }
  if (first > last) {
    if (!extended() || rule_.kind == FieldKind::kYears) return RefuseWrap(from, to);
    last += rule_.size;
  }
  for (int value = first; value <= last; value += step) {
    Add(value > rule_.max ? value - rule_.size : value);
  }
  return absl::OkStatus();
}

void FieldParser::Add(int value) {
  if (rule_.kind == FieldKind::kYears) value -= rule_.min;
  out_.values[static_cast<size_t>(value) / 64] |= uint64_t{1} << (value % 64);
}

absl::Status FieldParser::RefuseWrap(const Value& from, const Value& to) {
  if (rule_.kind == FieldKind::kYears) {
    return Error(from.begin, "the range of years ends before it begins");
  }
  const auto text_of = [this](const Value& value, size_t end) {
    return std::string(text_.substr(value.begin, end - value.begin));
  };
  const bool weekdays = rule_.kind == FieldKind::kWeekdays;
  const std::string start = text_of(from, to.begin - 1);
  size_t end = to.begin;
  while (end < item_end_ && text_[end] != '/') ++end;
  const std::string high = weekdays ? "SAT" : std::to_string(rule_.max);
  const std::string low = weekdays ? "SUN" : std::to_string(rule_.min);
  const bool stepped = end < item_end_;
  return Error(from.begin, "the range ends before it begins; five fields do not wrap around",
               stepped ? "" : start + "-" + high + "," + low + "-" + text_of(to, end));
}

// Something follows a complete item.
absl::Status FieldParser::RefuseRest() {
  const char before = pos_ > item_begin_ ? text_[pos_ - 1] : '\0';
  const std::string rest(text_.substr(pos_, item_end_ - pos_));
  const std::string_view item = Item();
  if (before == '*') {
    const bool digits = std::all_of(rest.begin(), rest.end(), IsDigit);
    return Error(pos_, "after * only /step may follow", digits ? "*/" + rest : "");
  }
  if (Peek() == '.') return Error(pos_, "decimals have no meaning here");
  if (Peek() == '-') return Error(pos_, "only one range an item");
  if (Peek() == '/') return Error(pos_, "no step is possible here");
  if (rule_.kind == FieldKind::kDays && extended() && PeekLetter() == 'W') {
    return Error(pos_, "W needs a single day, not a range or a step");
  }
  if (rule_.kind == FieldKind::kDays && extended() && PeekLetter() == 'L') {
    return Error(pos_, "L stands for the last day of the month and takes no number before it", "L");
  }
  if (PeekLetter() == 'L' || PeekLetter() == 'W' || Peek() == '#') return RefuseCharacter();
  return Error(pos_, Quoted(rest) + " after a complete item",
               std::string(item.substr(0, pos_ - item_begin_)));
}

// What stands at the position can begin nothing, or not in this field.
absl::Status FieldParser::RefuseCharacter() {
  const char c = Peek();
  const char letter = PeekLetter();
  if (c == '?') {
    if (!extended()) return Error(pos_, "? is for six and seven fields; five fields take *", "*");
    const bool day_field = rule_.kind == FieldKind::kDays || rule_.kind == FieldKind::kWeekdays;
    return Error(pos_, day_field ? "? stands alone" : "? is for the two day fields only",
                 day_field ? "" : "*");
  }
  if (letter == 'L' || letter == 'W' || c == '#') {
    const std::string mark(1, letter);
    if (!extended() && (rule_.kind == FieldKind::kDays || rule_.kind == FieldKind::kWeekdays)) {
      return Error(pos_, mark + " needs six fields, with the seconds in front");
    }
    if (letter == 'W' && rule_.kind == FieldKind::kDays) {
      return Error(pos_, "W needs a day before it: 15W is the weekday nearest to the 15th", "LW");
    }
    if (c == '#' && rule_.kind == FieldKind::kWeekdays) {
      return Error(pos_, "# needs one weekday before it: 6#3 is the third one of the month");
    }
    return Error(pos_, mark + " has no meaning in the " + std::string(rule_.name) + " field");
  }
  if (c == '+' || c == '-') return Error(pos_, "signs have no meaning here");
  if (static_cast<unsigned char>(c) >= 0x80) {
    return Error(pos_, "only ASCII characters are understood (a full-width digit, perhaps)");
  }
  if (AtEnd()) return Error(pos_, "something is missing here");
  size_t end = pos_ + 1;
  while (IsLetter(c) && end < item_end_ && IsLetter(text_[end])) ++end;
  return Error(pos_, Quoted(text_.substr(pos_, end - pos_)) + " is not understood");
}

char FieldParser::PeekLetter() const {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(Peek())));
}

absl::Status FieldParser::Error(size_t at, const std::string& reason,
                                const std::string& hint) const {
  const size_t field_offset = static_cast<size_t>(text_.data() - expr_.data());
  return CronError(expr_, rule_.name, field_offset + at, reason, hint);
}

}  // namespace tidemark
