cc_fuzzer(NAME disk_record_fuzzer SRCS disk_record_fuzzer.cc DEPS headstart::prefix_store)
