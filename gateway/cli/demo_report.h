// What the demo shows of its requests: a table of where each prompt's tokens came from and what that did to the wait.

#ifndef HEADSTART_GATEWAY_CLI_DEMO_REPORT_H_
#define HEADSTART_GATEWAY_CLI_DEMO_REPORT_H_

#include <string>
#include <vector>

#include "gateway/cli/client.h"

namespace headstart {

struct DemoRow {
  std::string label;     // the question, or what else tells requests apart
  std::string expected;  // the right answer; empty where there is none
  Answer answer;
};

// One row for each request, speed-up against the first.
std::string FormatDemoTable(const std::vector<DemoRow>& rows, const std::string& label_heading);

// "All 6 answers are right by the inventory." or which are not.
std::string CountRightAnswers(const std::vector<DemoRow>& rows);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_DEMO_REPORT_H_
