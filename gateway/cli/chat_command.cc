#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "gateway/cli/client.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

struct ChatFlags {
  ClientFlags client;
  GenerationFlags generation;
  std::string message;
  std::string system;
};

void AddMessage(v1::ChatInput& chat, const std::string& role, const std::string& content) {
  v1::Message* message = chat.add_messages();
  message->set_role(role);
  message->set_content(content);
}

// A conversation that grows: each turn sends all turns before it, which the server has cached.
class Conversation {
 public:
  explicit Conversation(const ChatFlags& flags)
      : flags_(flags), client_(flags.client), request_(ToRequest(flags.generation)) {
    if (!flags.system.empty()) AddMessage(*request_.mutable_input()->mutable_chat(), "system", flags.system);
  }

  absl::Status Say(const std::string& text) {
    if (const std::string complaint = CheckUtf8(text); !complaint.empty()) return absl::InvalidArgumentError(complaint);
    v1::ChatInput& chat = *request_.mutable_input()->mutable_chat();
    AddMessage(chat, "user", text);
    const bool json = flags_.generation.json;
    auto answer = client_.Generate(request_, [json](std::string_view piece) {
      if (!json) PrintNow(piece);
    });
    if (!answer.ok()) {
      chat.mutable_messages()->RemoveLast();
      return answer.status();
    }
    AddMessage(chat, "assistant", answer->text);
    Report(*answer);
    return absl::OkStatus();
  }

 private:
  void Report(const Answer& answer) const {
    if (flags_.generation.json) return PrintJson(answer);
    PrintNow("\n");
    PrintAccount(answer);
  }

  const ChatFlags& flags_;
  Client client_;
  v1::GenerateRequest request_;
};

int Chat(const ChatFlags& flags) {
  Conversation conversation(flags);
  if (!flags.message.empty()) {
    const absl::Status status = conversation.Say(flags.message);
    return status.ok() ? kExitOk : PrintError(status);
  }
  const bool terminal = isatty(STDIN_FILENO) == 1;
  if (terminal) PrintNow("Type a message and press Enter; Ctrl-D ends.\n");
  std::string line;
  int exit_code = kExitOk;
  while (terminal ? PrintNow("> ") : void(), std::getline(std::cin, line)) {
    if (line.empty()) continue;
    if (auto status = conversation.Say(line); !status.ok()) exit_code = PrintError(status);
  }
  return exit_code;
}

}  // namespace

void AddChatCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ChatFlags>();
  CLI::App* command = app.add_subcommand("chat", "Talk with a model on a running server");
  command->footer(
      "\nExamples:\n"
      "  headstart chat                               line by line; what was said is cached\n"
      "  headstart chat \"Where is the red lamp?\" --system \"$(cat inventory.txt)\"\n");
  command->add_option("message", flags->message, "One message; without it, lines are read from standard input")
      ->check(CheckUtf8);
  command->add_option("--system", flags->system, "The system prompt")->check(CheckUtf8);
  AddClientFlags(*command, flags->client);
  AddGenerationFlags(*command, flags->generation);
  command->callback([flags, &action] { action = [flags] { return Chat(*flags); }; });
}

}  // namespace headstart
