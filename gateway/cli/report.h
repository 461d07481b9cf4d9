// What the command line prints: answers as they come, their account, errors and tables. No colour, so that it reads the
// same in a terminal, a pipe and a log.
//
// Thread-safety: writes to the standard streams; one thread at a time.

#ifndef HEADSTART_GATEWAY_CLI_REPORT_H_
#define HEADSTART_GATEWAY_CLI_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gateway/cli/client.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/message.h"

namespace headstart {

// How this program was started, for commands that people copy.
std::string ProgramPath();

// To standard output, at once.
void PrintNow(std::string_view text);

// What a command ends with once its output is written: `exit_code`, or PrintError's when standard output did not take
// all of it, such as a full disk.
int Written(int exit_code);

// "error: ..." to standard error; returns kExitFailure.
int PrintError(const absl::Status& status);

// Usage and timings to standard error, a line each, and whether the budget nears its end.
void PrintAccount(const Answer& answer);

// A message as one JSON object, zeros included.
std::string ToJson(const google::protobuf::Message& message);

// The answer with its account as one JSON object, zeros included, to standard output.
void PrintJson(const Answer& answer);
void PrintJson(const google::protobuf::Message& message);

absl::Duration ToAbsl(const google::protobuf::Duration& duration);

// "1 block", "2 blocks".
std::string Counted(int64_t count, std::string_view one, std::string_view many);

// "3.2 ms", "1.05 s".
std::string ReadableDuration(absl::Duration duration);

// Columns as wide as their widest cell; the first row is the heading. Cells whose column's heading starts with a space
// go to the right.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_REPORT_H_
