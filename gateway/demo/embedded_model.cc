#include "gateway/demo/embedded_model.h"

#include "gateway/files/embed.h"

HEADSTART_EMBED(demo_weights, HEADSTART_DEMO_MODEL "/model.safetensors");
HEADSTART_EMBED(demo_config, HEADSTART_DEMO_MODEL "/config.json");
HEADSTART_EMBED(demo_tokenizer, HEADSTART_DEMO_MODEL "/tokenizer.json");
HEADSTART_EMBED(demo_tokenizer_config, HEADSTART_DEMO_MODEL "/tokenizer_config.json");

namespace headstart {

std::shared_ptr<const FileSet> EmbeddedDemoModel() {
  return MemoryFiles({{"model.safetensors", HEADSTART_EMBEDDED(demo_weights)},
                      {"config.json", HEADSTART_EMBEDDED(demo_config)},
                      {"tokenizer.json", HEADSTART_EMBEDDED(demo_tokenizer)},
                      {"tokenizer_config.json", HEADSTART_EMBEDDED(demo_tokenizer_config)}});
}

}  // namespace headstart
