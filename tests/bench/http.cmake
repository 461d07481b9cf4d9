if(HEADSTART_GATEWAY)
  cc_benchmark(
    NAME http_benchmark
    SRCS http_benchmark.cc ${PROJECT_SOURCE_DIR}/tests/gateway/fake_engine.cc
         ${PROJECT_SOURCE_DIR}/tests/gateway/http_client.cc
    DEPS headstart::gateway_openai headstart::gateway_http headstart::gateway_listen_address headstart::gateway_demo
         headstart::gateway_accounting fmt::fmt)
endif()
