#include "scheduler/store/command_feed.h"

#include <utility>

#include "common/log.h"
#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/snapshot.h"
#include "scheduler/store/statements.h"
#include "scheduler/store/string_map.h"

namespace tidemark {
namespace {

constexpr int64_t kMostAtOnce = 500;
constexpr char kCommands[] = "tidemark_command";
constexpr char kCluster[] = "tidemark_cluster";
constexpr char kUpstream[] = "tidemark_upstream";  // with a job's name

DatabaseOptions ListenOptions(const StoreOptions& options) {
  DatabaseOptions database = options.database;
  if (!options.listen_url.empty()) database.url = options.listen_url;
  return database;
}

Command ReadCommand(const SqlRows& rows, int i) {
  Command command;
  command.command_id = rows.Text(i, 0);
  command.job_id = rows.Int(i, 1);
  command.shard = static_cast<int>(rows.Int(i, 2));
  command.kind = rows.Text(i, 3);
  command.actor = rows.Text(i, 5);
  auto args = DecodeStringMap(rows.View(i, 4));
  if (args.ok()) {
    command.args = *std::move(args);
  } else {
    LogError("a command's arguments cannot be read", {{"command_id", command.command_id}});
  }
  return command;
}

// Forgets ids whose commands are done, once there are many.
absl::Status Prune(SqlTransaction& transaction, std::set<std::string>* known) {
  if (known->size() < 256) return absl::OkStatus();
  SqlArray ids;
  for (const std::string& id : *known) ids.Add(id);
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      transaction.Run(sql::kStillOpen, {std::move(ids).Take()}));
  known->clear();
  for (int i = 0; i < rows.size(); ++i) known->insert(rows.Text(i, 0));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Command>> ReadOpen(SqlTransaction& transaction,
                                              const std::string& shards,
                                              const std::set<std::string>& known, Clock& clock,
                                              ClockSample* sample, bool* inbox) {
  SqlArray ids;
  for (const std::string& id : known) ids.Add(id);
  sample->sent_mono = clock.Monotonic();
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      transaction.Run(sql::kOpenCommands, {shards, std::move(ids).Take(), ToParam(kMostAtOnce)}));
  sample->received_mono = clock.Monotonic();
  sample->db = rows.Time(0, 6);
  *inbox = rows.Bool(0, 7);
  std::vector<Command> commands;
  std::vector<int64_t> jobs;
  for (int i = 0; i < rows.size() && !rows.IsNull(i, 0); ++i) {
    commands.push_back(ReadCommand(rows, i));
    jobs.push_back(commands.back().job_id);
  }
  if (commands.empty()) return commands;
  TM_ASSIGN_OR_RETURN(const auto rows_of_jobs, LoadJobs(transaction, jobs));
  for (Command& command : commands) {
    const auto it = rows_of_jobs.find(command.job_id);
    if (it != rows_of_jobs.end()) command.job = it->second;
  }
  return commands;
}

}  // namespace

CommandFeed::CommandFeed(const StoreOptions& options, Clock* clock, Term* term,
                         const std::map<int, Epoch>& shards, std::function<void()> cluster_changed)
    : clock_(clock),
      poll_(options.command_poll),
      max_backoff_(options.max_backoff),
      term_(term),
      cluster_changed_(std::move(cluster_changed)),
      session_(options.database),
      listen_session_(ListenOptions(options)),
      shards_(shards),
      reader_([this] { Read(); }),
      listener_([this] { Listen(); }) {}

CommandFeed::~CommandFeed() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wake_.Notify();
  listen_wake_.Notify();
  session_.Close();
  listen_session_.Close();
  reader_.join();
  listener_.join();
}

void CommandFeed::Poke() { wake_.Notify(); }

void CommandFeed::AddShards(const std::map<int, Epoch>& shards) {
  {
    const MutexLock lock(&mutex_);
    shards_.insert(shards.begin(), shards.end());
  }
  wake_.Notify();
}

std::string CommandFeed::Shards() {
  const MutexLock lock(&mutex_);
  return ShardArray(shards_);
}

bool CommandFeed::Stopped() {
  {
    const MutexLock lock(&mutex_);
    if (stopped_) return true;
  }
  return term_->Over();
}

void CommandFeed::Read() {
  while (!Stopped()) {
    const absl::Status status = ReadOnce();
    if (Stopped()) return;
    log_.Report(status);
    wake_.Wait(poll_);
  }
}

absl::Status CommandFeed::ReadOnce() {
  // Before the shards are asked for: a look of that time has those that were the listener's then.
  const absl::Duration read = clock_->Monotonic();
  const std::string shards = Shards();
  if (shards == "{}") return absl::OkStatus();
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  std::vector<Command> commands;
  std::vector<InboxItem> items;
  ClockSample sample;
  TM_RETURN_IF_ERROR(connection->Transact(
      [&](SqlTransaction& transaction) -> absl::Status {
        bool inbox = false;
        TM_RETURN_IF_ERROR(Prune(transaction, &known_));
        TM_ASSIGN_OR_RETURN(commands,
                            ReadOpen(transaction, shards, known_, *clock_, &sample, &inbox));
        if (!inbox) return absl::OkStatus();
        TM_ASSIGN_OR_RETURN(items, inbox_.Read(transaction, shards));
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  // A short question's answer tells the time better than a flush's: the loop fires by it.
  term_->Deliver([&](StoreListener* listener) { listener->OnClockSample(sample); });
  Deliver(std::move(commands), std::move(items), read);
  return absl::OkStatus();
}

void CommandFeed::Deliver(std::vector<Command> commands, std::vector<InboxItem> items,
                          absl::Duration read) {
  for (const Command& command : commands) known_.insert(command.command_id);
  inbox_.Delivered();
  // The rest is read at once, not at the next poll.
  const bool more_items = items.size() == static_cast<size_t>(InboxReader::kMostAtOnce);
  if (more_items || commands.size() == static_cast<size_t>(kMostAtOnce)) wake_.Notify();
  if (more_items) read = -absl::InfiniteDuration();
  term_->Deliver([&](StoreListener* listener) { listener->OnInbox(std::move(items), read); });
  if (commands.empty()) return;
  term_->Deliver([&](StoreListener* listener) { listener->OnCommands(std::move(commands)); });
}

void CommandFeed::Listen() {
  bool listening = false;
  while (!Stopped()) {
    const absl::Status status = ListenOnce(&listening);
    if (Stopped()) return;
    listen_log_.Report(status);
    if (!status.ok()) {
      listening = false;
      listen_wake_.Wait(max_backoff_);
    }
  }
}

absl::Status CommandFeed::ListenOnce(bool* listening) {
  TM_ASSIGN_OR_RETURN(Connection * connection, listen_session_.Get());
  if (!*listening) {
    TM_RETURN_IF_ERROR(connection->Listen(kCommands));
    TM_RETURN_IF_ERROR(connection->Listen(kUpstream));
    TM_RETURN_IF_ERROR(connection->Listen(kCluster));
    *listening = true;
    wake_.Notify();  // what came before LISTEN was not told
    cluster_changed_();
    term_->Deliver([](StoreListener* listener) { listener->OnUpstreams({}); });
  }
  TM_ASSIGN_OR_RETURN(std::vector<Notification> told,
                      connection->AwaitNotification(absl::Seconds(5)));
  std::vector<std::string> upstreams;
  for (Notification& it : told) {
    if (it.channel == kCommands) wake_.Notify();
    if (it.channel == kCluster) cluster_changed_();
    if (it.channel == kUpstream) upstreams.push_back(std::move(it.payload));
  }
  if (upstreams.empty()) return absl::OkStatus();
  term_->Deliver([&](StoreListener* listener) { listener->OnUpstreams(std::move(upstreams)); });
  return absl::OkStatus();
}

}  // namespace tidemark
