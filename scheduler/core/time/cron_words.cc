#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "scheduler/core/time/cron_explain.h"
#include "scheduler/core/time/cron_text.h"

namespace tidemark {
namespace {

constexpr uint64_t kFullSixty = (uint64_t{1} << 60) - 1;
constexpr uint32_t kFullDay = (uint32_t{1} << 24) - 1;
constexpr uint32_t kFullMonth = 0xfffffffe;
constexpr uint16_t kFullYear = 0x1ffe;
constexpr uint8_t kFullWeek = 0x7f;
constexpr int kMostTimes = 6;  // listed one by one

std::string Number(int value) { return std::to_string(value); }
std::string TwoDigits(int value) { return (value < 10 ? "0" : "") + std::to_string(value); }
std::string Weekday(int value) { return std::string(WeekdayName(value)); }
std::string Month(int value) { return std::string(MonthName(value)); }

std::string JoinWith(const std::vector<std::string>& items, const std::string& last) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " " + last + " " : ", ";
    text += items[i];
  }
  return text;
}

// "1, 5–9, 20": runs of three and more as ranges.
template <typename Name>
std::string SetInWords(uint64_t bits, Name name) {
  std::vector<std::string> items;
  for (int i = 0; i < 64; ++i) {
    if ((bits >> i & 1) == 0) continue;
    int end = i;
    while (end < 63 && (bits >> (end + 1) & 1) != 0) ++end;
    if (end - i >= 2) {
      items.push_back(name(i) + "–" + name(end));
      i = end;
    } else {
      items.push_back(name(i));
    }
  }
  return JoinWith(items, "and");
}

std::string ClockTime(int hour, int minute, int second) {
  std::string text = TwoDigits(hour) + ":" + TwoDigits(minute);
  if (second != 0) text += ":" + TwoDigits(second);
  return text;
}

std::string ListedTimes(const CronFields& f) {
  std::vector<std::string> times;
  for (int second_of_day = 0; second_of_day < 86400; ++second_of_day) {
    const int hour = second_of_day / 3600;
    const int minute = second_of_day / 60 % 60;
    const int second = second_of_day % 60;
    if ((f.hours >> hour & 1) != 0 && (f.minutes >> minute & 1) != 0 &&
        (f.seconds >> second & 1) != 0) {
      times.push_back(ClockTime(hour, minute, second));
    }
  }
  return "at " + JoinWith(times, "and");
}

std::string Plural(uint64_t bits) { return std::popcount(bits) == 1 ? " " : "s "; }

std::string TimeInWords(const Cron& cron) {
  const CronFields& f = cron.fields();
  if (cron.TimesPerDay() <= kMostTimes) return ListedTimes(f);
  std::string text;
  if (f.seconds == kFullSixty) {
    text = "every second";
  } else if (f.seconds != 1) {
    text = "at second" + Plural(f.seconds) + SetInWords(f.seconds, Number);
  }
  if (f.minutes != kFullSixty) {
    text += text.empty() ? "at " : " of ";
    text += "minute" + Plural(f.minutes) + SetInWords(f.minutes, Number);
  } else if (f.seconds != kFullSixty) {
    text += text.empty() ? "every minute" : " of every minute";
  }
  if (f.hours != kFullDay) return text + " of hour" + Plural(f.hours) + SetInWords(f.hours, Number);
  if (f.minutes != kFullSixty) text += " of every hour";
  return text;
}

std::string DaysBefore(int n) {
  return Number(n) + (n == 1 ? " day" : " days") + " before the last day";
}

std::string DatesInWords(const CronFields& f) {
  std::vector<std::string> parts;
  if (f.days != 0) parts.push_back("day" + Plural(f.days) + SetInWords(f.days, Number));
  for (int n = 0; n <= 30; ++n) {
    if ((f.days_from_last >> n & 1) == 0) continue;
    parts.push_back(n == 0 ? "the last day" : DaysBefore(n));
  }
  for (int day = 1; day <= 31; ++day) {
    if ((f.nearest_weekdays >> day & 1) == 0) continue;
    parts.push_back("the weekday nearest to day " + Number(day));
  }
  for (int n = 0; n <= 30; ++n) {
    if ((f.last_nearest >> n & 1) == 0) continue;
    parts.push_back("the weekday nearest to " + (n == 0 ? "the last day" : DaysBefore(n)));
  }
  return "on " + JoinWith(parts, "and") + " of the month";
}

std::string WeekdaysInWords(const CronFields& f) {
  const std::string names = SetInWords(f.weekdays, Weekday);
  if (f.nth == 0) return "on " + names;
  const char* ranks[] = {"", "first", "second", "third", "fourth", "fifth"};
  return "on the " + std::string(f.nth < 0 ? "last" : ranks[f.nth]) + " " + names + " of the month";
}

std::string DayInWords(const CronFields& f) {
  const bool every_date = f.days == kFullMonth;
  const bool every_weekday = f.weekdays == kFullWeek && f.nth == 0;
  if (f.either_day) return DatesInWords(f) + ", or " + WeekdaysInWords(f);
  if (every_date && every_weekday) return "on every day";
  if (every_date) return WeekdaysInWords(f);
  if (every_weekday) return DatesInWords(f);
  return DatesInWords(f) + ", if it is also " + WeekdaysInWords(f).substr(3);
}

std::string YearsInWords(const CronFields& f) {
  std::vector<std::string> items;
  const auto has = [&f](int year) {
    const int bit = year - Cron::kFirstYear;
    return year <= Cron::kLastYear && (f.years[bit / 64] >> (bit % 64) & 1) != 0;
  };
  for (int year = Cron::kFirstYear; year <= Cron::kLastYear; ++year) {
    if (!has(year)) continue;
    const int first = year;
    while (has(year + 1)) ++year;
    items.push_back(first == year ? Number(first) : Number(first) + "–" + Number(year));
  }
  return JoinWith(items, "and");
}

}  // namespace

std::string CronInWords(const Cron& cron) {
  const CronFields& f = cron.fields();
  std::string text = TimeInWords(cron) + " " + DayInWords(f);
  if (f.months != kFullYear) text += ", in " + SetInWords(f.months, Month);
  if (!f.any_year) text += ", in " + YearsInWords(f);
  return text;
}

}  // namespace tidemark
