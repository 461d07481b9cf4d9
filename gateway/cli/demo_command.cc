#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "engine/model/synth.h"
#include "fmt/format.h"
#include "gateway/accounting/no_account.h"
#include "gateway/cli/client.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/demo_report.h"
#include "gateway/cli/model_opener.h"
#include "gateway/cli/report.h"
#include "gateway/demo/inventory.h"
#include "gateway/services/request_observer.h"
#include "gateway/serving/service_host.h"

namespace headstart {
namespace {

struct DemoFlags {
  std::string server;  // empty: one inside this process
  int facts = 180;     // some 2,000 tokens: as long as the model was trained to read well
  int questions = 6;
  bool skip_large = false;
  int64_t large_prefix_tokens = 2048;
};

constexpr char kLargeShape[] = "smollm2-135m";
constexpr int kLargeRequests = 4;
constexpr int kLargeSuffixTokens = 32;
constexpr int kLargeAnswerTokens = 8;

class NoObserver final : public RequestObserver {
 public:
  void OnRequestFinished(const RequestRecord&) override {}
};

// A server inside this process, called over a real connection like any other.
struct LocalServer {
  std::unique_ptr<Authenticator> authenticator = OpenAuthenticator();
  NoObserver observer;
  std::unique_ptr<Accountant> accountant = NoAccount();
  std::unique_ptr<ServiceHost> host;
};

absl::StatusOr<std::unique_ptr<LocalServer>> StartServer(std::unique_ptr<ModelSource> source) {
  EngineOptions options;
  options.kv_cache_bytes = 256 << 20;  // several times what the demo's prompts take
  auto engine = Engine::Create(std::move(source), options);
  if (!engine.ok()) return engine.status();
  auto server = std::make_unique<LocalServer>();
  auto host = ServiceHost::Start(
      *std::move(engine), {.grpc = {.listen = "127.0.0.1:0"}},
      {.authenticator = *server->authenticator, .observer = server->observer, .accountant = *server->accountant});
  if (!host.ok()) return host.status();
  server->host = *std::move(host);
  return server;
}

v1::GenerateRequest Ask(const Inventory& inventory, const InventoryQuestion& question) {
  v1::GenerateRequest request;
  request.mutable_sampling()->set_temperature(0);
  request.set_max_tokens(32);
  v1::ChatInput& chat = *request.mutable_input()->mutable_chat();
  v1::Message& system = *chat.add_messages();
  system.set_role("system");
  system.set_content(inventory.system_prompt);
  v1::Message& user = *chat.add_messages();
  user.set_role("user");
  user.set_content(question.text);
  return request;
}

absl::Status AskAboutInventory(const DemoFlags& flags, const std::string& address) {
  const Inventory inventory = MakeInventory(flags.facts);
  Client client(ServerAccess{.server = address});
  PrintNow(
      fmt::format("1. One long system prompt, {} questions\n\n"
                  "   The built-in model answers from an inventory of {} facts in its system prompt.\n"
                  "   Each question sends the whole inventory again:\n\n",
                  flags.questions, flags.facts));
  std::vector<DemoRow> rows;
  for (const InventoryQuestion& question : PickQuestions(inventory, flags.questions)) {
    PrintNow(fmt::format("   Q: {}\n   A: ", question.text));
    auto answer = client.Generate(Ask(inventory, question), PrintNow);
    if (!answer.ok()) return answer.status();
    PrintNow("\n");
    rows.push_back({.label = question.text, .expected = question.answer, .answer = *std::move(answer)});
  }
  PrintNow(fmt::format("\n{}\n{}\n\n", FormatDemoTable(rows, "question"), CountRightAnswers(rows)));
  return absl::OkStatus();
}

// Any tokens do for timing; these only differ from request to request where they should.
v1::GenerateRequest LargeRequest(int64_t prefix_tokens, int request_number, int vocab_size) {
  v1::GenerateRequest request;
  request.mutable_sampling()->set_temperature(0);
  request.set_max_tokens(kLargeAnswerTokens);
  request.set_ignore_eos(true);
  auto& ids = *request.mutable_input()->mutable_tokens()->mutable_ids();
  for (int64_t i = 0; i < prefix_tokens; ++i) ids.Add(static_cast<int32_t>(i * 7919 % vocab_size));
  for (int64_t i = 0; i < kLargeSuffixTokens; ++i) {
    ids.Add(static_cast<int32_t>((i * 104729 + request_number) % vocab_size));
  }
  return request;
}

absl::Status TimeLargeModel(const DemoFlags& flags) {
  PrintNow(
      fmt::format("2. The same with a model of the size of {} (135 million random weights)\n\n"
                  "   {} prompts that share their first {} tokens and differ in the last {}:\n\n",
                  kLargeShape, kLargeRequests, flags.large_prefix_tokens, kLargeSuffixTokens));
  auto files = SynthModelFiles({.shape = kLargeShape});
  if (!files.ok()) return files.status();
  auto source = OpenModel(*std::move(files), kLargeShape);
  if (!source.ok()) return source.status();
  const int vocab_size = (*source)->config().vocab_size;
  auto server = StartServer(*std::move(source));
  if (!server.ok()) return server.status();
  Client client(ServerAccess{.server = (*server)->host->server().address()});
  std::vector<DemoRow> rows;
  for (int i = 0; i < kLargeRequests; ++i) {
    auto answer = client.Generate(LargeRequest(flags.large_prefix_tokens, i, vocab_size));
    if (!answer.ok()) return answer.status();
    rows.push_back({.label = fmt::format("prompt {}", i + 1), .expected = "", .answer = *std::move(answer)});
  }
  PrintNow(FormatDemoTable(rows, "request") + "\n");
  return absl::OkStatus();
}

absl::Status RunDemo(const DemoFlags& flags) {
  if (!flags.server.empty()) {
    if (auto status = AskAboutInventory(flags, flags.server); !status.ok()) return status;
  } else {
    auto source = OpenModelByName(kDemoModel);
    if (!source.ok()) return source.status();
    auto server = StartServer(*std::move(source));
    if (!server.ok()) return server.status();
    if (auto status = AskAboutInventory(flags, (*server)->host->server().address()); !status.ok()) return status;
  }
  return flags.skip_large ? absl::OkStatus() : TimeLargeModel(flags);
}

int Demo(const DemoFlags& flags) {
  if (auto status = RunDemo(flags); !status.ok()) return PrintError(status);
  const std::string program = ProgramPath();
  PrintNow(
      fmt::format("Next:\n"
                  "  {0} serve\n"
                  "  {0} chat {1}\n",
                  program, kDemoQuestion));
  return kExitOk;
}

}  // namespace

void AddDemoCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<DemoFlags>();
  CLI::App* command = app.add_subcommand("demo", "Show what a remembered prompt saves");
  command->footer(
      "\nExamples:\n"
      "  headstart demo\n"
      "  headstart demo --skip-large --questions 12      the inventory alone, in a second or two\n");
  command->add_option("--server", flags->server,
                      "Ask this server, which serves the demo model; default: one inside this process");
  command->add_option("--facts", flags->facts, "Facts in the inventory, some eleven tokens each")
      ->check(CLI::Range(1, 300))
      ->capture_default_str();
  command->add_option("--questions", flags->questions, "Questions asked")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_flag("--skip-large", flags->skip_large, "Leave out the second part, with the larger model");
  command->add_option("--large-prefix-tokens", flags->large_prefix_tokens, "Shared tokens of the second part")
      ->check(CLI::Range(1, 8000))
      ->capture_default_str();
  command->callback([flags, &action] { action = [flags] { return Demo(*flags); }; });
}

}  // namespace headstart
