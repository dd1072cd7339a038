// A scheduler's store with a listener that keeps what it hears.
#ifndef TIDEMARK_TESTS_STORE_STORE_NODE_H_
#define TIDEMARK_TESTS_STORE_STORE_NODE_H_

#include <functional>
#include <memory>
#include <string>

#include "scheduler/store/scheduler_store.h"
#include "tests/store/recording_listener.h"
#include "tests/support/migrated_database.h"

namespace tidemark {

// One store of its own clock and listener on a database: started at once, stopped at the end.
struct StoreNode {
  using Change = std::function<void(StoreOptions*)>;

  StoreNode(const MigratedDatabase& database, const std::string& node_id, const Change& change = {})
      : StoreNode(database.options(), node_id, [&](StoreOptions* options) {
          options->listen_url = database.url();  // the others may lead through a pooler
          if (change) change(options);
        }) {}
  StoreNode(const DatabaseOptions& database, const std::string& node_id,
            const Change& change = {}) {
    StoreOptions options;
    options.database = database;
    options.node_id = node_id;
    options.address = node_id + ":7400";
    options.version = "test";
    options.first_backoff = absl::Milliseconds(20);
    options.max_backoff = absl::Milliseconds(200);
    options.command_poll = absl::Milliseconds(50);
    if (change) change(&options);
    store = std::make_unique<SchedulerStore>(options, &heard, SystemClock(), SystemRandom());
    store->Start();
  }

  RecordingListener heard;
  std::unique_ptr<SchedulerStore> store;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_STORE_STORE_NODE_H_
