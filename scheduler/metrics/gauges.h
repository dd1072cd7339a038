// The values of a moment as metric families.
#ifndef TIDEMARK_SCHEDULER_METRICS_GAUGES_H_
#define TIDEMARK_SCHEDULER_METRICS_GAUGES_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "scheduler/metrics/app_labels.h"
#include "scheduler/metrics/metrics.h"

namespace tidemark {

std::vector<prometheus::MetricFamily> GaugeFamilies(const NodeGauges& gauges, AppLabels& apps);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_METRICS_GAUGES_H_
