// The parts of a flush that every run takes: input columns and SQL of each. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_FLUSH_PARTS_H_
#define TIDEMARK_SCHEDULER_STORE_FLUSH_PARTS_H_

#include <string_view>
#include <vector>

#include "scheduler/store/input_batch.h"

namespace tidemark {

// One list of a flush as common table expressions, so that several lists make one statement. All
// parts of a statement see the database as it was before it.
struct FlushPart {
  std::string_view input;            // the name under which `tables` know the rows
  std::vector<InputColumn> columns;  // of the input, in the order of the batch
  std::string_view tables;           // what is done with the rows; `go.at` is the time
  std::string_view done;             // the one that has run_id of each row done; "": none
  std::string_view marks = {};       // more of `tables`, needed when a row of the input has a date
};

namespace parts {

// The beginning of a flush's first statement. $1 node, $2 incarnation, $3 seq → the tables fence
// and go, a row each when the fence holds and the flush is the next one.
extern const std::string_view kFirst;
// … of a later one: go has its row.
extern const std::string_view kLater;

// Moves runs from active_run to run_history and sets their watermarks.
const FlushPart& Close();
// Deletes rows of armed runs.
const FlushPart& Disarm();
// Inserts live runs, and sets the watermarks of their dates to RUNNING unless they are armed.
const FlushPart& Open();
// Sets the watermarks of armed runs' dates to RUNNING.
const FlushPart& Launch();
const FlushPart& Update();
const FlushPart& Attempt();
const FlushPart& Cursor();

}  // namespace parts
}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_FLUSH_PARTS_H_
