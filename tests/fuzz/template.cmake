cc_fuzzer(NAME template_fuzzer SRCS ${CMAKE_CURRENT_SOURCE_DIR}/template_fuzzer.cc
  DEPS headstart::engine_template nlohmann_json::nlohmann_json)
