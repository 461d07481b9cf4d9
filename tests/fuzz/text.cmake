cc_fuzzer(NAME tokenizer_json_fuzzer SRCS tokenizer_json_fuzzer.cc DEPS headstart::engine_text absl::statusor)
