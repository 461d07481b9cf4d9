if(HEADSTART_GATEWAY)
  cc_benchmark(
    NAME gateway_benchmark
    SRCS gateway_benchmark.cc ${PROJECT_SOURCE_DIR}/tests/gateway/fake_engine.cc
         ${PROJECT_SOURCE_DIR}/tests/gateway/http_client.cc
    DEPS headstart::gateway_serving headstart::gateway_demo fmt::fmt nlohmann_json::nlohmann_json)
endif()
