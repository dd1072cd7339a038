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
std::vector<std::vector<const T*>> UniqueBatches(const std::vector<T>& list, KeyOf key_of) {
  using Key = decltype(key_of(list.front()));
  std::vector<std::pair<Key, const T*>> sorted;
  sorted.reserve(list.size());
  for (const T& element : list) sorted.emplace_back(key_of(element), &element);
  std::sort(sorted.begin(), sorted.end());  // of one key by address: in the order of the list
  std::vector<std::vector<const T*>> batches;
  size_t same = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    same = i > 0 && !(sorted[i - 1].first < sorted[i].first) ? same + 1 : 0;
    if (same == batches.size()) batches.emplace_back();
    batches[same].push_back(sorted[i].second);
  }
  return batches;
}

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_BATCH_H_
