// The needle test: the demo model, an inventory of some 2,000 tokens, a question for every fact. Whichever tier the
// inventory came back from, before and after eviction, restarts and damage, the answers are those of a cold model.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "gateway/demo/embedded_model.h"
#include "gateway/demo/inventory.h"
#include "gtest/gtest.h"
#include "tests/testing/collected_answer.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

namespace fs = std::filesystem;

using Answer = CollectedAnswer;

class Needle : public ::testing::Test {
 protected:
  // Of some eleven tokens each.
  static constexpr int kFacts = 180;

  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "headstart-needle-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  // Device memory for one inventory and little more; `host_blocks` behind it.
  std::unique_ptr<Engine> Open(int64_t host_blocks, bool disk) {
    auto source = OpenModel(EmbeddedDemoModel(), "demo");
    EXPECT_OK(source);
    const int64_t block_bytes = Transformer::KvShapeOf((*source)->config(), {}).bytes_per_block();
    EngineOptions options{.kv_cache_bytes = 170 * block_bytes, .threads = 2};
    options.host_cache_bytes = host_blocks * block_bytes;
    if (disk) {
      options.disk_cache_directory = directory_ / "cache";
      options.disk_cache_bytes = 256 << 20;
    }
    auto engine = Engine::Create(*std::move(source), options);
    EXPECT_OK(engine);
    return *std::move(engine);
  }

  std::shared_ptr<Answer> Ask(Engine& engine, const Inventory& inventory, size_t question, bool read_cache = true) {
    GenerationRequest request;
    request.prompt = engine.tokenizer().Encode("<|system|>" + inventory.system_prompt + "<|end|><|user|>" +
                                                   inventory.questions[question].text + "<|end|><|assistant|>",
                                               {.parse_special = true});
    request.sampling.temperature = 0;
    request.max_tokens = 24;
    request.read_cache = read_cache;
    auto answer = std::make_shared<Answer>();
    EXPECT_OK(engine.Submit(std::move(request), answer));
    answer->done.wait();
    return answer;
  }

  // What a model that never cached anything says, for every seventh question: computing all would take minutes.
  void LearnColdAnswers(Engine& engine) {
    for (size_t i = 0; i < inventory_.questions.size(); i += 7) cold_[i] = Ask(engine, inventory_, i, false)->text;
  }

  // Asks every question. Of a first pass, remembers what was said beside the cold answers.
  GenerationUsage AskAll(Engine& engine) {
    GenerationUsage first;
    for (size_t i = 0; i < inventory_.questions.size(); ++i) {
      const auto answer = Ask(engine, inventory_, i);
      if (i == 0) first = answer->usage;
      const auto [known, is_new] = cold_.try_emplace(i, answer->text);
      EXPECT_EQ(answer->text, known->second) << inventory_.questions[i].text;
    }
    return first;
  }

  // Fills the device with something as long that begins otherwise, so that the inventory has to leave.
  void Thrash(Engine& engine) {
    Inventory other = inventory_;
    other.system_prompt = "Something else. " + other.system_prompt;
    Ask(engine, other, 3);
  }

  fs::path directory_;
  const Inventory inventory_ = MakeInventory(kFacts);
  std::map<size_t, std::string> cold_;
};

TEST_F(Needle, IsFoundWhereverTheInventoryComesFrom) {
  int right = 0;
  {
    const auto engine = Open(/*host_blocks=*/400, /*disk=*/true);
    LearnColdAnswers(*engine);
    AskAll(*engine);  // from the device
    for (const auto& [question, answer] : cold_) {
      if (answer.find(inventory_.questions[question].answer) != std::string::npos) ++right;
    }
    Thrash(*engine);
    EXPECT_GT(AskAll(*engine).cached_host_tokens, 100);
  }
  EXPECT_GE(right, kFacts * 9 / 10) << "the model knows its inventory, else this tests nothing";

  {
    const auto engine = Open(/*host_blocks=*/0, /*disk=*/true);
    EXPECT_GT(AskAll(*engine).cached_disk_tokens, 1900) << "after a restart";
    Thrash(*engine);
    EXPECT_GT(AskAll(*engine).cached_disk_tokens, 100) << "after eviction";
  }

  for (const auto& entry : fs::recursive_directory_iterator(directory_ / "cache")) {
    if (entry.path().extension() != ".blob") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.write("damage", 6);
  }
  const auto engine = Open(/*host_blocks=*/0, /*disk=*/true);
  AskAll(*engine);
}

}  // namespace
}  // namespace headstart::testing
