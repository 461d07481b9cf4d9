if(HEADSTART_GATEWAY)
  cc_benchmark(
    NAME ledger_benchmark
    SRCS ${PROJECT_SOURCE_DIR}/tests/bench/ledger_benchmark.cc
    DEPS headstart::gateway_ledger headstart::gateway_accounting)
endif()
