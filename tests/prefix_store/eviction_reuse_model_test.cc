#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/eviction/age_buckets.h"
#include "prefix_store/eviction/reuse_model.h"

namespace headstart::testing {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;

// Hashes of a conversation's prefixes; `branch` and `turn` make those of its last block differ, which is incomplete.
std::vector<SequenceBlock> Prefixes(uint64_t conversation, uint32_t blocks, uint64_t branch = 0) {
  std::vector<SequenceBlock> prefixes;
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t end = i + 1 == blocks ? (branch + 1) << 16 : 0;
    prefixes.push_back({.prefix_hash = (conversation << 32) + end + i, .hits = 0});
  }
  return prefixes;
}

double Worth(const ReuseModel& model, const LastUse& use, int64_t age_ms, uint32_t hits = 0) {
  const int block_class = model.ClassOf({.hits = hits, .last_use = use});
  return model.worth({static_cast<uint8_t>(block_class), static_cast<uint8_t>(AgeBucket(age_ms))});
}

int64_t Counter(const ReuseModel& model, std::string_view wanted) {
  int64_t found = -1;
  model.VisitCounters([&](std::string_view name, int64_t value) {
    if (name == wanted) found = value;
  });
  return found;
}

TEST(AgeBuckets, EachBeginsWhereItSays) {
  EXPECT_EQ(AgeBucket(-5), 0);
  EXPECT_EQ(AgeBucket(0), 0);
  for (int bucket = 1; bucket < kAgeBuckets; ++bucket) {
    EXPECT_LT(kAgeBucketStartMs[bucket - 1], kAgeBucketStartMs[bucket]);
    EXPECT_EQ(AgeBucket(kAgeBucketStartMs[bucket] - 1), bucket - 1);
    EXPECT_EQ(AgeBucket(kAgeBucketStartMs[bucket]), bucket);
  }
  EXPECT_EQ(AgeBucket(std::numeric_limits<int64_t>::max()), kAgeBuckets - 1);
}

TEST(ReuseModel, CountsTurns) {
  ReuseModel model;
  EXPECT_EQ(model.SequenceEnds(AgeMs{0}, Prefixes(1, 10, 0)).turn, 1);
  EXPECT_EQ(model.SequenceEnds(AgeMs{1}, Prefixes(1, 12, 1)).turn, 2);
  EXPECT_EQ(model.SequenceEnds(AgeMs{2}, Prefixes(1, 13, 2)).turn, 3);
  EXPECT_EQ(model.SequenceEnds(AgeMs{3}, Prefixes(2, 13, 2)).turn, 1) << "another conversation";
  EXPECT_EQ(model.SequenceEnds(AgeMs{4}, Prefixes(1, 13, 3)).turn, 4) << "its last question asked anew";
}

TEST(ReuseModel, LeavingAConversationInItsMiddleIsNoTurnOfItsEnd) {
  ReuseModel model;
  model.SequenceEnds(AgeMs{0}, Prefixes(1, 10, 0));
  model.SequenceEnds(AgeMs{1}, Prefixes(1, 20, 1));
  EXPECT_EQ(model.SequenceEnds(AgeMs{2}, Prefixes(1, 5, 2)).turn, 1);
  EXPECT_EQ(model.SequenceEnds(AgeMs{3}, Prefixes(1, 15, 3)).turn, 2) << "goes on from the first turn, not the second";
}

TEST(ReuseModel, ADocumentThatQuestionsAreAskedAboutIsNoConversation) {
  ReuseModel model;
  uint32_t turn = 0;
  for (uint64_t question = 0; question < 50; ++question) {
    turn = model.SequenceEnds(AgeMs{0}, Prefixes(1, 10, question)).turn;
  }
  EXPECT_EQ(turn, 1);
}

TEST(ReuseModel, BlocksThatOthersFindAreShared) {
  ReuseModel model;
  const LastUse use = {.turn = 3, .kind = SequenceKind{20}};
  const int own = model.ClassOf({.hits = 2, .last_use = use});
  EXPECT_EQ(own, 20);
  EXPECT_NE(model.ClassOf({.hits = 3, .last_use = use}), own);
  for (const uint32_t hits : {1u, 1000u, ~0u}) {
    EXPECT_LT(model.ClassOf({.hits = hits, .last_use = {.turn = 1}}), model.classes()) << hits;
  }
}

TEST(ReuseModel, BeforeAnythingWasSeenTheYoungerIsWorthMore) {
  const ReuseModel model;
  for (int i = 0; i < model.classes(); ++i) {
    for (int age = 1; age < kAgeBuckets; ++age) {
      const auto at = [&](int bucket) { return model.worth({static_cast<uint8_t>(i), static_cast<uint8_t>(bucket)}); };
      EXPECT_LT(at(age), at(age - 1)) << "class " << i << ", age " << age;
      EXPECT_EQ(at(age), model.worth({0, static_cast<uint8_t>(age)})) << "classes do not differ yet";
    }
  }
}

TEST(ReuseModel, OrderIsByWorth) {
  const ReuseModel model;
  ASSERT_EQ(std::ssize(model.order()), model.classes() * kAgeBuckets);
  for (size_t i = 1; i < model.order().size(); ++i) {
    EXPECT_LE(model.worth(model.order()[i - 1]), model.worth(model.order()[i]));
  }
}

// Chats of 4 blocks whose users answer after a minute, and reports of 40 blocks that nobody asks about again.
struct Learned {
  ReuseModel model;
  LastUse chat, report;
  Learned() {
    int64_t now = 0;
    for (uint64_t i = 1; i <= 600; ++i) {
      now += kSecond;
      chat = model.SequenceEnds(AgeMs{now}, Prefixes(i, 4, 0));
      report = model.SequenceEnds(AgeMs{now}, Prefixes(1'000'000 + i, 40, 0));
      if (i > 60) model.SequenceEnds(AgeMs{now}, Prefixes(i - 60, 6, 1));
    }
  }
};

TEST(ReuseModel, LearnsWhichSequencesComeBack) {
  const Learned learned;
  EXPECT_GT(Worth(learned.model, learned.chat, 0), 10 * Worth(learned.model, learned.report, 0));
}

TEST(ReuseModel, LearnsWhenTheyComeBack) {
  const Learned learned;
  const double fresh = Worth(learned.model, learned.chat, 0);
  EXPECT_GT(Worth(learned.model, learned.chat, 45 * kSecond), fresh) << "the wait is nearly over";
  EXPECT_LT(Worth(learned.model, learned.chat, 5 * kMinute), fresh) << "it is over, and nobody came";
}

// Nothing tells the model what was evicted, so what is evicted does not change what it learns; here, that a prefix
// which comes back counts as reuse although its blocks were not found.
TEST(ReuseModel, LearnsFromWhatCameBackTooLate) {
  const Learned learned;
  EXPECT_EQ(Counter(learned.model, "observed_reuses"), 540);
  EXPECT_EQ(Counter(learned.model, "continued_sequences"), 540);
}

TEST(ReuseModel, ForgetsOldHabits) {
  Learned learned;
  int64_t now = 1000 * kSecond;
  const double before = Worth(learned.model, learned.chat, 0);
  for (uint64_t i = 1; i <= 40'000; ++i) {  // nobody answers any more
    now += kSecond / 4;
    learned.model.SequenceEnds(AgeMs{now}, Prefixes(2'000'000 + i, 4, 0));
  }
  EXPECT_LT(Worth(learned.model, learned.chat, 0), before / 4);
}

TEST(ReuseModel, TimeMayStandStillAndJumpAndGoBack) {
  ReuseModel model;
  for (const int64_t now : {int64_t{5}, int64_t{5}, int64_t{5}, int64_t{1} << 60, int64_t{7}, int64_t{1} << 61}) {
    for (uint64_t i = 0; i < 100; ++i) model.SequenceEnds(AgeMs{now}, Prefixes(i, 4, 0));
  }
  EXPECT_GE(ToIndex(model.SequenceEnds(AgeMs{0}, Prefixes(1, 4, 0)).at), int64_t{1} << 61);
  for (const ReuseModel::Cell& cell : model.order()) {
    EXPECT_TRUE(model.worth(cell) > 0 && model.worth(cell) <= 1) << model.worth(cell);
  }
}

TEST(ReuseModel, EmptyAndTinySequences) {
  ReuseModel model;
  EXPECT_EQ(model.SequenceEnds(AgeMs{0}, {}).turn, 1);
  EXPECT_EQ(model.SequenceEnds(AgeMs{0}, Prefixes(1, 1)).turn, 1);
  EXPECT_EQ(model.SequenceEnds(AgeMs{0}, Prefixes(2, 2)).turn, 1);
}

TEST(ReuseModel, ItsMemoryIsBounded) {
  ReuseModel model;
  for (uint64_t i = 0; i < 100'000; ++i) model.SequenceEnds(AgeMs{static_cast<int64_t>(i)}, Prefixes(i, 3, 0));
  EXPECT_LE(Counter(model, "remembered_prefixes"), 32'768);
  EXPECT_EQ(model.SequenceEnds(AgeMs{100'000}, Prefixes(99'999, 4, 1)).turn, 2) << "the youngest are remembered";
  EXPECT_EQ(model.SequenceEnds(AgeMs{100'000}, Prefixes(1, 4, 1)).turn, 1) << "the oldest are not";
}

TEST(ReuseModel, ResetForgetsAllAndTellsItsPolicies) {
  Learned learned;
  const int64_t revision = learned.model.revision();
  learned.model.Reset();
  EXPECT_NE(learned.model.revision(), revision);
  EXPECT_EQ(Counter(learned.model, "remembered_prefixes"), 0);
  EXPECT_EQ(Worth(learned.model, learned.chat, 0), Worth(learned.model, learned.report, 0));
}

}  // namespace
}  // namespace headstart::testing
