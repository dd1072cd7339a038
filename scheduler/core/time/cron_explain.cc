#include "scheduler/core/time/cron_explain.h"
