#include "scheduler/core/time/calendar.h"
