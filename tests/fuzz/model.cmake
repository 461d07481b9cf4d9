cc_fuzzer(NAME gguf_fuzzer SRCS gguf_fuzzer.cc DEPS headstart::engine_model)
cc_fuzzer(NAME safetensors_fuzzer SRCS safetensors_fuzzer.cc DEPS headstart::engine_model)
