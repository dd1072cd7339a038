#include "scheduler/core/time/zone.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tidemark {
namespace {

using Names = std::set<std::string, std::less<>>;

std::string DataRoot() {
  const char* dir = std::getenv("TZDIR");
  return dir != nullptr && *dir != '\0' ? dir : "/usr/share/zoneinfo";
}

// Zone names as the tz database writes them. Everything that absl would read as a path, a POSIX
// text or a setting of this machine has another form.
bool HasNameSyntax(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.find("//") != name.npos) return false;
  if (!std::isupper(static_cast<unsigned char>(name.front())) || name.back() == '/') return false;
  const bool characters = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '_' || c == '+' || c == '-' || c == '/');
  });
  return characters && name != "Factory" && name.substr(0, 6) != "Fixed/";
}

// Names of zones and links in the compact form of the tz database; empty without that file.
Names ReadList(const std::string& root) {
  Names names;
  std::ifstream file(root + "/tzdata.zi");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, first, second;
    words >> kind >> first >> second;
    if (kind == "Z") names.insert(first);
    if (kind == "L") names.insert(second);
  }
  names.erase("Factory");
  return names;
}

bool HasZoneFile(const std::string& root, std::string_view name) {
  std::ifstream file(root + "/" + std::string(name), std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return file.good() && std::string_view(magic, sizeof magic) == "TZif";
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + cost}));
    }
  }
  return row[b.size()];
}

// The listed name that `name` may stand for: other case or blanks for underscores, the city
// alone, or a slip of one or two letters.
std::string Nearest(std::string_view name, const Names& names) {
  std::string wanted = Lower(name);
  std::replace(wanted.begin(), wanted.end(), ' ', '_');
  if (wanted.size() > 64) return "";
  std::string best;
  size_t best_distance = 3;
  for (const std::string& candidate : names) {
    const std::string lower = Lower(candidate);
    const std::string city = lower.substr(lower.rfind('/') + 1);
    const size_t distance = city == wanted ? 1 : EditDistance(lower, wanted);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

// "UTC+8", "GMT-05:00", "+08:00": the zone that was meant, where whole hours name one.
std::string OffsetHint(std::string_view name) {
  const size_t sign = name.find_first_of("+-");
  if (sign == name.npos || sign > 3 || sign + 1 >= name.size()) return "";
  if (sign != 0 && name.substr(0, sign) != "UTC" && name.substr(0, sign) != "GMT") return "";
  int hours = 0;
  size_t i = sign + 1;
  for (; i < name.size() && i < sign + 3 && std::isdigit(static_cast<unsigned char>(name[i])); ++i)
    hours = hours * 10 + (name[i] - '0');
  const std::string_view rest = name.substr(i);
  if (i == sign + 1 || hours == 0 || hours > 12 || (!rest.empty() && rest != ":00" && rest != "00"))
    return "";
  return std::string("Etc/GMT") + (name[sign] == '+' ? "-" : "+") + std::to_string(hours);
}

std::string Printable(std::string_view text) {
  std::string out;
  for (const unsigned char c : text.substr(0, 64)) {
    if (c >= 0x20 && c != 0x7f) {
      out += static_cast<char>(c);
    } else {
      out += '?';
    }
  }
  return out;
}

absl::Status Refused(std::string_view name, const Names& names) {
  if (name.empty()) {
    return absl::InvalidArgumentError(
        "the zone is empty: name an IANA zone, for example Asia/Shanghai or UTC");
  }
  std::string message = "unknown zone \"" + Printable(name) + "\"";
  if (const std::string offset = OffsetHint(name); !offset.empty()) {
    message += ": a fixed offset is named \"" + offset +
               "\" (the sign is the other way round), but a city's zone is nearly always meant";
  } else if (const std::string near = Nearest(name, names); !near.empty()) {
    message += ": did you mean \"" + near + "\"?";
  } else {
    message += ": name an IANA zone, for example Asia/Shanghai, Europe/Berlin or UTC";
  }
  return absl::InvalidArgumentError(message);
}

// What has been read of one data directory. Zones are kept for the life of the process, as absl
// keeps them, so that compiling a million schedules reads each file once. Thread-safe.
class ZoneData {
 public:
  explicit ZoneData(std::string root) : root_(std::move(root)), names_(ReadList(root_)) {}

  absl::StatusOr<absl::TimeZone> Load(std::string_view name) {
    absl::MutexLock lock(&mutex_);
    if (const auto known = zones_.find(name); known != zones_.end()) return known->second;
    const bool listed =
        names_.empty() ? HasZoneFile(root_, name) : names_.find(name) != names_.end();
    if (!HasNameSyntax(name) || !listed) return Refused(name, names_);
    absl::TimeZone zone;
    if (!absl::LoadTimeZone(std::string(name), &zone)) {
      return absl::InvalidArgumentError("the zone \"" + std::string(name) +
                                        "\" has no readable file under " + root_ +
                                        ": install the package tzdata");
    }
    zones_.emplace(name, zone);
    return zone;
  }

 private:
  const std::string root_;
  const Names names_;
  absl::Mutex mutex_;
  std::map<std::string, absl::TimeZone, std::less<>> zones_ ABSL_GUARDED_BY(mutex_);
};

ZoneData& DataOf(const std::string& root) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto& by_root = *new std::map<std::string, ZoneData>;
  absl::MutexLock lock(&mutex);
  return by_root.try_emplace(root, root).first->second;
}

// The gap that a skipped local time is in: [from, to).
struct Gap {
  absl::CivilSecond from, to;
  bool Covers(absl::CivilDay date) const {
    return from <= absl::CivilSecond(date) && to >= absl::CivilSecond(date + 1);
  }
};

Gap GapAround(absl::CivilSecond local, const absl::TimeZone::TimeInfo& info) {
  return {local - absl::ToInt64Seconds(info.pre - info.trans),
          local + absl::ToInt64Seconds(info.trans - info.post)};
}

}  // namespace

absl::StatusOr<absl::TimeZone> LoadZone(std::string_view name) {
  return DataOf(DataRoot()).Load(name);
}

std::optional<FixedInstant> ResolveFixed(absl::CivilSecond local, const absl::TimeZone& zone) {
  const absl::TimeZone::TimeInfo info = zone.At(local);
  switch (info.kind) {
    case absl::TimeZone::TimeInfo::UNIQUE:
      return FixedInstant{info.pre, CivilKind::kUnique};
    case absl::TimeZone::TimeInfo::REPEATED:
      return FixedInstant{info.pre, CivilKind::kRepeated};
    case absl::TimeZone::TimeInfo::SKIPPED:
      break;
  }
  if (GapAround(local, info).Covers(absl::CivilDay(local))) return std::nullopt;
  return FixedInstant{info.trans, CivilKind::kSkipped};
}

bool DateExists(absl::CivilDay date, const absl::TimeZone& zone) {
  const absl::CivilSecond midnight(date);
  const absl::TimeZone::TimeInfo info = zone.At(midnight);
  return info.kind != absl::TimeZone::TimeInfo::SKIPPED || !GapAround(midnight, info).Covers(date);
}

}  // namespace tidemark
