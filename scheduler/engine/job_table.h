// All jobs of a node, found by id, name and app.
#ifndef TIDEMARK_SCHEDULER_ENGINE_JOB_TABLE_H_
#define TIDEMARK_SCHEDULER_ENGINE_JOB_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "scheduler/engine/job_state.h"

namespace tidemark {

// Owns the jobs, in numbered slots: ~30 bytes a job beside what JobState has. The order of slots
// depends on nothing but the calls. Not thread-safe.
class JobTable {
 public:
  JobTable() = default;
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  size_t size() const { return by_id_.size(); }
  void Reserve(size_t jobs);

  JobState* Find(int64_t job_id);
  // The job of that name that was put there last.
  JobState* FindNamed(std::string_view name);

  // The job of that id, made if it is not there.
  std::pair<JobState*, bool> Make(int64_t job_id);
  // Where it is found by name and by app.
  void Place(JobState& job, const std::string& name, const std::string& ns, const std::string& app);
  void Remove(JobState& job);

  // Slots from 0 to slots(), some of them empty.
  size_t slots() const { return slots_; }
  JobState* At(size_t slot);
  // All jobs; what is made meanwhile may be left out, what is removed is.
  template <typename Visit>
  void ForEach(const Visit& visit) {
    for (size_t slot = 0; slot < slots_; ++slot) {
      if (JobState* job = At(slot)) visit(*job);
    }
  }
  // Those of an app, in whatever namespace.
  std::vector<JobState*> Of(const std::string& app);
  bool AnyOf(const std::string& app) const { return homes_.contains(app); }
  std::vector<std::string> Apps() const;

 private:
  static constexpr size_t kChunk = 1024;

  struct ById {
    using is_transparent = void;
    const JobTable* table;
    size_t operator()(int64_t id) const {
      const uint64_t x = static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15ULL;
      return x ^ (x >> 32);
    }
    size_t operator()(uint32_t slot) const { return (*this)(table->Slot(slot).row.job_id); }
  };
  struct SameId {
    using is_transparent = void;
    const JobTable* table;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, int64_t id) const { return table->Slot(a).row.job_id == id; }
  };
  struct ByName {
    using is_transparent = void;
    const JobTable* table;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
    size_t operator()(uint32_t slot) const { return (*this)(table->Slot(slot).text.view()); }
  };
  struct SameName {
    using is_transparent = void;
    const JobTable* table;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, std::string_view name) const {
      return table->Slot(a).text.view() == name;
    }
  };

  JobState& Slot(size_t slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  void Leave(JobState& job);  // its place

  std::vector<std::unique_ptr<JobState[]>> chunks_;
  size_t slots_ = 0;
  std::vector<uint32_t> free_;
  absl::flat_hash_set<uint32_t, ById, SameId> by_id_{0, ById{this}, SameId{this}};
  absl::flat_hash_set<uint32_t, ByName, SameName> by_name_{0, ByName{this}, SameName{this}};
  // By app and namespace. Addresses stay.
  std::map<std::string, std::map<std::string, JobHome>> homes_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_JOB_TABLE_H_
