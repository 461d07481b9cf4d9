cc_benchmark(
  NAME tier_benchmark
  SRCS ${PROJECT_SOURCE_DIR}/tests/bench/tier_benchmark.cc
  DEPS headstart::prefix_store)
