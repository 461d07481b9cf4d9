// Killed at any moment under load, again and again: the next process opens the same directory, and every answer is the
// one that an engine without any cache gives.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/model/synth.h"
#include "gtest/gtest.h"
#include "tests/testing/collected_answer.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kPrompts = 12;
constexpr int kAnswerTokens = 6;

// What a child process ends with.
enum ChildExit { kFine = 0, kWrongAnswer = 10, kDidNotOpen = 11 };

using Answer = CollectedAnswer;

// Prompts that share beginnings of many lengths.
std::vector<TokenId> Prompt(int i) {
  std::mt19937_64 shared(i % 3);
  std::mt19937_64 own(100 + i);
  std::vector<TokenId> tokens;
  for (int t = 0; t < 30 + 17 * (i % 4); ++t) tokens.push_back(TokenId{static_cast<int32_t>(shared() % 256)});
  for (int t = 0; t < 20 + i; ++t) tokens.push_back(TokenId{static_cast<int32_t>(own() % 256)});
  return tokens;
}

std::unique_ptr<Engine> Open(const fs::path& cache) {
  auto files = SynthModelFiles({.shape = "tiny"});
  auto source = OpenModel(*std::move(files), "tiny");
  const int64_t block_bytes = Transformer::KvShapeOf((*source)->config(), {}).bytes_per_block();
  EngineOptions options{.kv_cache_bytes = 20 * block_bytes, .threads = 1};
  if (!cache.empty()) {
    options.host_cache_bytes = 8 * block_bytes;
    options.disk_cache_directory = cache;
    options.disk_cache_bytes = 16 << 20;
  }
  auto engine = Engine::Create(*std::move(source), options);
  if (!engine.ok()) fprintf(stderr, "%s\n", engine.status().ToString().c_str());
  return engine.ok() ? *std::move(engine) : nullptr;
}

std::shared_ptr<Answer> Ask(Engine& engine, int prompt) {
  GenerationRequest request;
  request.prompt = Prompt(prompt);
  request.sampling.temperature = 0;
  request.max_tokens = kAnswerTokens;
  request.ignore_eos = true;
  auto answer = std::make_shared<Answer>();
  EXPECT_OK(engine.Submit(std::move(request), answer));
  return answer;
}

// Runs in a process of its own: this one must stay without threads, to fork.
pid_t Fork(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

int ExitOf(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int WriteColdAnswers(const fs::path& file) {
  const auto engine = Open({});
  std::ofstream out(file);
  for (int i = 0; i < kPrompts; ++i) {
    const auto answer = Ask(*engine, i);
    answer->done.wait();
    for (const TokenId token : answer->ids) out << ToIndex(token) << ' ';
  }
  return kFine;
}

std::vector<std::vector<TokenId>> ReadColdAnswers(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::vector<TokenId>> answers(kPrompts);
  for (auto& answer : answers) {
    for (int i = 0; i < kAnswerTokens; ++i) {
      int32_t token = -1;
      in >> token;
      answer.push_back(TokenId{token});
    }
  }
  return answers;
}

// Until it is killed.
int RunUnderLoad(const fs::path& cache, const fs::path& cold, uint32_t seed) {
  const auto answers = ReadColdAnswers(cold);
  const auto engine = Open(cache);
  if (engine == nullptr) return kDidNotOpen;
  std::mt19937 random(seed);
  while (true) {
    std::vector<std::pair<int, std::shared_ptr<Answer>>> asked;
    for (int i = 0; i < 3; ++i) {
      const int prompt = static_cast<int>(random() % kPrompts);
      asked.emplace_back(prompt, Ask(*engine, prompt));
    }
    for (const auto& [prompt, answer] : asked) {
      answer->done.wait();
      if (answer->ids != answers[prompt]) return kWrongAnswer;
    }
  }
}

TEST(Kill, AtAnyMomentCostsTimeAndNeverTruth) {
  std::string pattern = (fs::temp_directory_path() / "headstart-kill-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path directory = pattern;
  ASSERT_EQ(ExitOf(Fork([&] { return WriteColdAnswers(directory / "cold"); })), kFine);

  const char* asked = std::getenv("HEADSTART_KILL_ROUNDS");  // a few for every day
  const int rounds = asked == nullptr ? 8 : std::atoi(asked);
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    const pid_t child =
        Fork([&] { return RunUnderLoad(directory / "cache", directory / "cold", static_cast<uint32_t>(round)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));  // the moment is the point of it
    kill(child, SIGKILL);
    ASSERT_EQ(ExitOf(child), -SIGKILL) << "round " << round;
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace headstart::testing
