#include "scheduler/store/term.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/recording_listener.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TermTest : public ::testing::Test {
 protected:
  ManualClock clock_{absl::UnixEpoch()};  // at 1000 s
  RecordingListener heard_;
  ListenerGate gate_{&heard_};
  Signal wake_;
  // Its registration was sent a second ago, and its lease began after that.
  Term term_{{1, "a", "i", 1}, &gate_, &clock_, absl::Seconds(8), absl::Seconds(999), &wake_};
};

TEST_F(TermTest, EndsByItselfAtTheDeadlineAndTellsNothingAfterwards) {
  term_.Start({});
  clock_.Advance(absl::Seconds(7) - absl::Nanoseconds(1));
  EXPECT_FALSE(term_.Over());
  EXPECT_TRUE(term_.Deliver([](StoreListener* listener) { listener->OnFlushed({}); }));
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_FALSE(term_.Deliver([](StoreListener* listener) { listener->OnFlushed({}); }));
  EXPECT_THAT(heard_.Get().order, ElementsAre("start", "flush", "end"));
  EXPECT_TRUE(wake_.Wait(absl::ZeroDuration()));
}

TEST_F(TermTest, TheDeadlineCountsFromWhenARenewalWasSent) {
  term_.Start({});
  clock_.Advance(absl::Seconds(6));
  term_.Renewed(absl::Seconds(1003));  // its answer took three seconds
  EXPECT_EQ(term_.deadline(), absl::Seconds(1011));
  term_.Renewed(absl::Seconds(1002));  // an earlier one's answer came later
  EXPECT_EQ(term_.deadline(), absl::Seconds(1011));
}

TEST_F(TermTest, ARenewalThatIsConfirmedTooLateIsTooLate) {
  term_.Start({});
  clock_.Advance(absl::Seconds(8));  // suspended meanwhile, say
  term_.Renewed(absl::Seconds(1006));
  EXPECT_TRUE(term_.Over());
  EXPECT_THAT(heard_.Get().ends, ElementsAre("the lease could not be renewed in time"));
}

TEST_F(TermTest, WhatIsOverBeforeItStartsIsNeverToldOf) {
  clock_.Advance(absl::Seconds(100));
  term_.Start({});
  term_.End("again");
  EXPECT_THAT(heard_.Get().order, IsEmpty());
  EXPECT_EQ(term_.why(), "the lease could not be renewed in time");
}

TEST_F(TermTest, TheFirstReasonCounts) {
  term_.Start({});
  term_.End("one");
  term_.End("two");
  EXPECT_THAT(heard_.Get().ends, ElementsAre("one"));
  EXPECT_THAT(heard_.Get().terms, SizeIs(1));
}

}  // namespace
}  // namespace tidemark
