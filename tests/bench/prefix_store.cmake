cc_benchmark(
  NAME prefix_store_benchmark
  SRCS ${PROJECT_SOURCE_DIR}/tests/bench/prefix_store_benchmark.cc
  DEPS headstart::prefix_store)

cc_benchmark(
  NAME eviction_benchmark
  SRCS ${PROJECT_SOURCE_DIR}/tests/bench/eviction_benchmark.cc
  DEPS headstart::prefix_store)
