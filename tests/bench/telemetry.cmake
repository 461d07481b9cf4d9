if(HEADSTART_GATEWAY)
  cc_benchmark(
    NAME telemetry_benchmark
    SRCS telemetry_benchmark.cc ${PROJECT_SOURCE_DIR}/tests/gateway/fake_engine.cc
    DEPS headstart::gateway_telemetry headstart::gateway_demo headstart::engine fmt::fmt)
endif()
