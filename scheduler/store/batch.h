// Lists of the flush as arrays, one a column. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_BATCH_H_
#define TIDEMARK_SCHEDULER_STORE_BATCH_H_

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text.h"
#include "scheduler/store/array.h"
#include "scheduler/store/database.h"

namespace tidemark {

// Bytes that columns of free text take; what is longer is cut with a mark (R6).
inline constexpr size_t kWordLimit = 32;                 // varchar(32)
inline constexpr size_t kDigestLimit = 128;              // varchar(128)
inline constexpr size_t kMessageLimit = 4096;            // messages, notes, reasons
inline constexpr size_t kBodyLimit = size_t{64} * 1024;  // results, checkpoints, details
inline constexpr size_t kNeverCut =
    size_t{1024} * 1024;  // names, keys, parameters: too long is an error

// Text that is part of an identity or must not be altered: only made storable.
inline SqlParam Exact(std::string_view text) { return CleanText(text, kNeverCut); }
inline SqlParam Word(std::string_view text) { return CleanText(text, kWordLimit); }
inline SqlParam Message4k(std::string_view text) { return CleanText(text, kMessageLimit); }
inline SqlParam Body(std::string_view text) { return CleanText(text, kBodyLimit); }

// Collects rows column by column: Add fills the columns of a row in turn.
class Batch {
 public:
  explicit Batch(size_t columns) : columns_(columns) {}

  Batch& Add(const SqlParam& value) {
    columns_[next_].Add(value);
    next_ = (next_ + 1) % columns_.size();
    return *this;
  }
  template <typename T>
  Batch& Put(const T& value) {
    return Add(ToParam(value));
  }

  // One parameter a column. Ends the use of this object.
  std::vector<SqlParam> Take() && {
    assert(next_ == 0);
    std::vector<SqlParam> params;
    params.reserve(columns_.size());
    for (SqlArray& column : columns_) params.emplace_back(std::move(column).Take());
    return params;
  }

 private:
  std::vector<SqlArray> columns_;
  size_t next_ = 0;
};

// `list` as batches in which no key comes twice (a statement may touch a row once), each sorted by
// key; elements of one key keep their order over the batches.
template <typename T, typename KeyOf>
std::vector<std::vector<const T*>> UniqueBatches(const std::vector<const T*>& list, KeyOf key_of) {
  std::vector<std::pair<decltype(key_of(*list.front())), const T*>> keyed;
  keyed.reserve(list.size());
  for (const T* element : list) keyed.emplace_back(key_of(*element), element);
  // Elements of one key stay in the order of the list, in which they lie one behind the other.
  if (!std::is_sorted(keyed.begin(), keyed.end())) std::sort(keyed.begin(), keyed.end());
  std::vector<std::vector<const T*>> batches;
  size_t at = 0;  // how often the key came before
  for (size_t i = 0; i < keyed.size(); ++i) {
    at = i > 0 && keyed[i - 1].first == keyed[i].first ? at + 1 : 0;
    if (at == batches.size()) batches.emplace_back();
    batches[at].push_back(keyed[i].second);
  }
  return batches;
}
template <typename T, typename KeyOf>
std::vector<std::vector<const T*>> UniqueBatches(const std::vector<T>& list, KeyOf key_of) {
  std::vector<const T*> all;
  all.reserve(list.size());
  for (const T& element : list) all.push_back(&element);
  return UniqueBatches(all, key_of);
}

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_BATCH_H_
