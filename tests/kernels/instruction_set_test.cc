#include "kernels/cpu/instruction_set.h"

#include "gtest/gtest.h"

namespace headstart::kernels {
namespace {

TEST(InstructionSetTest, NamesParseBack) {
  for (InstructionSet isa : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512Bf16}) {
    EXPECT_EQ(ParseInstructionSet(InstructionSetName(isa)), isa);
  }
  EXPECT_EQ(ParseInstructionSet("sse9"), std::nullopt);
}

TEST(InstructionSetTest, PortableRunsEverywhereAndTheBestIsSupported) {
  EXPECT_TRUE(IsSupported(InstructionSet::kPortable));
  EXPECT_TRUE(IsSupported(BestInstructionSet()));
}

}  // namespace
}  // namespace headstart::kernels
