// The demo model, compiled into the program: a tiny Llama that answers from its system prompt (see model/README.md).
//
// Thread-safety: a free function.

#ifndef HEADSTART_GATEWAY_DEMO_EMBEDDED_MODEL_H_
#define HEADSTART_GATEWAY_DEMO_EMBEDDED_MODEL_H_

#include <memory>

#include "engine/model/file_set.h"

namespace headstart {

// The files of a Hugging Face folder. Their bytes live as long as the program.
std::shared_ptr<const FileSet> EmbeddedDemoModel();

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_DEMO_EMBEDDED_MODEL_H_
