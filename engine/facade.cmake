# The facade over all that lies below this folder.
cc_library(NAME engine SRCS engine.cc
  DEPS headstart::engine_scheduler headstart::engine_transformer headstart::engine_template headstart::engine_model
       headstart::engine_text headstart::prefix_store absl::status absl::statusor
  PRIVATE_DEPS headstart::engine_backend_cpu headstart::engine_backend_reference fmt::fmt)
