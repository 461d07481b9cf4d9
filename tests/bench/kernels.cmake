cc_benchmark(NAME kernels_benchmark SRCS kernels_benchmark.cc DEPS headstart::engine_backend_cpu)
