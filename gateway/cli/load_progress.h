// How far loading a model has come, on standard error: a line that counts up in a terminal, a line every tenth
// elsewhere. Models that load in a moment say nothing.

#ifndef HEADSTART_GATEWAY_CLI_LOAD_PROGRESS_H_
#define HEADSTART_GATEWAY_CLI_LOAD_PROGRESS_H_

#include <string>

#include "engine/engine.h"

namespace headstart {

LoadProgress PrintLoadProgress(const std::string& model);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_LOAD_PROGRESS_H_
