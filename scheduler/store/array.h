// PostgreSQL array literals: how a batch of values travels in one bound parameter to UNNEST.
#ifndef TIDEMARK_SCHEDULER_STORE_ARRAY_H_
#define TIDEMARK_SCHEDULER_STORE_ARRAY_H_

#include <string>
#include <vector>

#include "scheduler/store/database.h"

namespace tidemark {

// Builds the literal of a one-dimensional array of any type, e.g. {a,"b \"c\"",NULL}. Every
// element that is not plainly a word or number is quoted, so no text can be taken for syntax.
// Elements must not hold NUL bytes.
class SqlArray {
 public:
  SqlArray() : text_("{") {}

  void Add(const SqlParam& element);
  // The literal. Ends the use of this object.
  std::string Take() &&;

 private:
  std::string text_;
};

// The literal of all of `elements`.
std::string ToArray(const std::vector<std::string>& elements);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ARRAY_H_
