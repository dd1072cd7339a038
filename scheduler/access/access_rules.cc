#include "scheduler/access/access_rules.h"

#include <algorithm>

namespace tidemark {

const std::vector<AccessRule>& AccessRules() {
  using enum Role;
  using K = ObjectKind;
  static const std::vector<AccessRule> rules = {
      // Looking.
      {"OperatorService/ListJobs", kViewer, K::kList, ""},
      {"OperatorService/GetJob", kViewer, K::kJob, "name"},
      {"OperatorService/NextFires", kViewer, K::kJob, "name"},
      {"OperatorService/ListCalendars", kViewer, K::kCluster, ""},
      {"OperatorService/GetCalendar", kViewer, K::kCluster, ""},
      {"OperatorService/ListRuns", kViewer, K::kList, ""},
      {"OperatorService/GetRun", kViewer, K::kRun, "run_id"},
      {"OperatorService/ReadRunLog", kViewer, K::kRun, "run_id"},
      {"OperatorService/ListBackfills", kViewer, K::kList, ""},
      {"OperatorService/GetBackfill", kViewer, K::kBackfill, "backfill_id"},
      {"OperatorService/GetDrill", kViewer, K::kDrill, "drill_id"},
      {"OperatorService/ListWatermarks", kViewer, K::kJob, "job"},
      {"OperatorService/ListExecutors", kViewer, K::kList, ""},
      {"OperatorService/ListAlerts", kViewer, K::kList, ""},
      {"OperatorService/ClusterStatus", kViewer, K::kCluster, ""},
      {"OperatorService/VerifyJobs", kViewer, K::kList, ""},
      {"AlertService/ListSilences", kViewer, K::kList, ""},
      {"AlertService/ListDeliveries", kViewer, K::kList, ""},
      {"AlertService/ListChannels", kViewer, K::kCluster, ""},
      {"CheckService/RunCheck", kViewer, K::kList, ""},
      {"CheckService/ListVerdicts", kViewer, K::kList, ""},
      {"AccessService/WhoAmI", kViewer, K::kCluster, ""},

      // Acting.
      {"OperatorService/ApplyJobs", kOperator, K::kJobSpecs, "jobs", true},
      {"OperatorService/DeleteJob", kOperator, K::kJob, "name", true},
      {"OperatorService/TriggerJob", kOperator, K::kJob, "name", true},
      {"OperatorService/PauseJob", kOperator, K::kJob, "name", true},
      {"OperatorService/ResumeJob", kOperator, K::kJob, "name", true},
      {"OperatorService/DrillJob", kOperator, K::kJob, "name", true},
      {"OperatorService/ResetCursor", kOperator, K::kJob, "name", true},
      {"OperatorService/CancelRun", kOperator, K::kRun, "run_id", true},
      {"OperatorService/RerunRun", kOperator, K::kRun, "run_id", true},
      {"OperatorService/ReleaseRun", kOperator, K::kRun, "run_id", true},
      {"OperatorService/WaiveDates", kOperator, K::kJob, "job", true},
      {"OperatorService/ForceDone", kOperator, K::kJob, "job", true},
      {"OperatorService/UnwaiveDates", kOperator, K::kJob, "job", true},
      {"OperatorService/CreateBackfill", kOperator, K::kJob, "job", true},
      {"OperatorService/PauseBackfill", kOperator, K::kBackfill, "backfill_id", true},
      {"OperatorService/ResumeBackfill", kOperator, K::kBackfill, "backfill_id", true},
      {"OperatorService/CancelBackfill", kOperator, K::kBackfill, "backfill_id", true},
      {"OperatorService/DrainExecutor", kOperator, K::kExecutor, "executor_id", true},
      {"OperatorService/DrainNode", kOperator, K::kShared, "", true},
      {"OperatorService/ImportCalendar", kOperator, K::kShared, "", true},
      {"AlertService/AckAlert", kOperator, K::kAlert, "alert_id", true},
      {"AlertService/SilenceAlerts", kOperator, K::kList, "", true},
      {"AlertService/DeleteSilence", kOperator, K::kSilence, "silence_id", true},
      {"AlertService/RetryDeliveries", kOperator, K::kList, "", true},
      {"AlertService/TestChannel", kOperator, K::kShared, "", true},
      {"AccessService/ListAudit", kOperator, K::kList, ""},
      {"AccessService/ListApprovals", kOperator, K::kList, ""},
      {"AccessService/ApproveOrder", kOperator, K::kApproval, "approval_id", true},
      {"AccessService/RefuseOrder", kOperator, K::kApproval, "approval_id", true},

      // Who may do all this.
      {"AccessService/CreateToken", kAdmin, K::kToken, "", true},
      {"AccessService/ListTokens", kAdmin, K::kList, ""},
      {"AccessService/RevokeToken", kAdmin, K::kToken, "token_id", true},

      {"ExecutorService/Connect", kExecutor, K::kStream, ""},
  };
  return rules;
}

const AccessRule* FindAccessRule(std::string_view method) {
  const std::vector<AccessRule>& rules = AccessRules();
  const auto it = std::find_if(rules.begin(), rules.end(),
                               [&](const AccessRule& rule) { return rule.method == method; });
  return it == rules.end() ? nullptr : &*it;
}

}  // namespace tidemark
