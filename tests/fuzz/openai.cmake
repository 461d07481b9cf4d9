# Off in the fuzz preset, which has no gateway: cmake --preset fuzz -DHEADSTART_GATEWAY=ON builds them for libFuzzer.
if(HEADSTART_GATEWAY)
  cc_fuzzer(NAME openai_request_fuzzer SRCS openai_request_fuzzer.cc DEPS headstart::gateway_openai)
  cc_fuzzer(NAME tool_call_fuzzer SRCS tool_call_fuzzer.cc DEPS headstart::gateway_openai)
endif()
