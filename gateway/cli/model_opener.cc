#include "gateway/cli/model_opener.h"

#include "gateway/demo/embedded_model.h"

namespace headstart {

absl::StatusOr<std::unique_ptr<ModelSource>> OpenModelByName(const std::string& name) {
  return name == kDemoModel ? OpenModel(EmbeddedDemoModel(), kDemoModel) : OpenModel(name);
}

}  // namespace headstart
