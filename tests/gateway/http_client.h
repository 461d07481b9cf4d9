// RawClient: a client of an HTTP server that sends bytes as the test wants them and reads answers, for tests that care
// about the wire. Blocking; what takes longer than a generous while is an empty answer.
//
// Thread-safety: none.

#ifndef HEADSTART_TESTS_GATEWAY_HTTP_CLIENT_H_
#define HEADSTART_TESTS_GATEWAY_HTTP_CLIENT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headstart::testing {

struct RawResponse {
  int status = 0;                              // 0: there was none
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // chunks put together
  bool complete = false;                       // its framing says so
};

class RawClient {
 public:
  // "127.0.0.1:1234" or "unix:/path".
  explicit RawClient(const std::string& address);
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False when the server has closed.
  bool Send(std::string_view bytes);
  void SendRequest(std::string_view method, std::string_view path, std::string_view body = "",
                   const std::vector<std::string>& headers = {});

  // `has_body` is false for an answer to HEAD.
  RawResponse ReadResponse(bool has_body = true);
  // Up to and including `end`, of what has not been read yet; all there is when the server closes before.
  std::string ReadUntil(std::string_view end);
  // Waits for the server's end of the connection. False if it goes on sending, or stays open.
  bool IsClosed();
  void Close();
  void EndOutput();
  // For a client that does not read: the kernel takes little for it.
  void ShrinkReceiveBuffer();

 private:
  bool Receive();
  std::string Take(size_t bytes);
  std::string ReadChunks(bool& complete);

  int fd_;
  std::string buffer_;
};

// The `data:` of each event of a stream.
std::vector<std::string> EventsOf(const std::string& body);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_HTTP_CLIENT_H_
