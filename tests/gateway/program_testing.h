// RunProgram: client commands as the program runs them, in this process.

#ifndef HEADSTART_TESTS_GATEWAY_PROGRAM_TESTING_H_
#define HEADSTART_TESTS_GATEWAY_PROGRAM_TESTING_H_

#include <string>
#include <vector>

namespace headstart::testing {

struct Result {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// What follows the program's name: a command that is a client's (models, cache), or `key`.
Result RunProgram(std::vector<std::string> words);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_PROGRAM_TESTING_H_
