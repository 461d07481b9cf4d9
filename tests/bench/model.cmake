if(HEADSTART_BENCHMARKS)
  cc_binary(NAME model_benchmark SRCS model_benchmark.cc DEPS headstart::engine CLI11::CLI11)
endif()
