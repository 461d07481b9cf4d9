#include "tests/gateway/http_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "fmt/format.h"
#include "gateway/server/listen_address.h"

namespace headstart::testing {
namespace {

constexpr int kPatienceSeconds = 30;  // far beyond what a loaded machine takes

int Connect(const std::string& text) {
  const ListenAddress address = *ParseListenAddress(text);
  if (address.is_unix_socket) {
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
    address.host.copy(name.sun_path, sizeof(name.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 ? fd : (close(fd), -1);
  }
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<uint16_t>(address.port));
  inet_pton(AF_INET, address.host.c_str(), &name.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  return connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 ? fd : (close(fd), -1);
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

RawClient::RawClient(const std::string& address) : fd_(Connect(address)) {
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

RawClient::RawClient(RawClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

RawClient::~RawClient() { Close(); }

void RawClient::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void RawClient::EndOutput() { shutdown(fd_, SHUT_WR); }

void RawClient::ShrinkReceiveBuffer() {
  const int bytes = 4096;
  setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void RawClient::SendRequest(std::string_view method, std::string_view path, std::string_view body,
                            const std::vector<std::string>& headers) {
  std::string request = fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n", method, path);
  for (const std::string& header : headers) request += header + "\r\n";
  if (!body.empty()) request += fmt::format("Content-Length: {}\r\nContent-Type: application/json\r\n", body.size());
  Send(request + "\r\n" + std::string(body));
}

bool RawClient::Receive() {
  char chunk[16384];
  const ssize_t bytes = recv(fd_, chunk, sizeof(chunk), 0);
  if (bytes > 0) buffer_.append(chunk, static_cast<size_t>(bytes));
  return bytes > 0;
}

std::string RawClient::Take(size_t bytes) {
  while (buffer_.size() < bytes && Receive()) {
  }
  std::string taken = buffer_.substr(0, bytes);
  buffer_.erase(0, taken.size());
  return taken;
}

std::string RawClient::ReadUntil(std::string_view end) {
  size_t found;
  while ((found = buffer_.find(end)) == std::string::npos && Receive()) {
  }
  return Take(found == std::string::npos ? buffer_.size() : found + end.size());
}

std::string RawClient::ReadChunks(bool& complete) {
  std::string body;
  while (true) {
    const std::string size_line = ReadUntil("\r\n");
    if (!size_line.ends_with("\r\n")) return body;
    const size_t size = std::stoul(size_line, nullptr, 16);
    body += Take(size);
    if (Take(2) != "\r\n") return body;
    complete = size == 0;
    if (complete) return body;
  }
}

RawResponse RawClient::ReadResponse(bool has_body) {
  RawResponse response;
  const std::string head = ReadUntil("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 ")) return response;
  response.status = std::stoi(head.substr(9, 3));
  for (size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const size_t end = head.find("\r\n", at);
    const size_t colon = head.find(": ", at);
    response.headers[Lower(head.substr(at, colon - at))] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  response.complete = true;
  if (!has_body || response.status == 204) return response;
  if (response.headers.contains("transfer-encoding")) {
    response.complete = false;
    response.body = ReadChunks(response.complete);
  } else if (response.headers.contains("content-length")) {
    const size_t size = std::stoul(response.headers["content-length"]);
    response.body = Take(size);
    response.complete = response.body.size() == size;
  } else {
    while (Receive()) {
    }
    response.body = std::exchange(buffer_, {});
  }
  return response;
}

bool RawClient::IsClosed() {
  char byte;
  if (!buffer_.empty()) return false;
  const ssize_t result = recv(fd_, &byte, 1, 0);
  return result == 0 || (result < 0 && errno == ECONNRESET);
}

std::vector<std::string> EventsOf(const std::string& body) {
  std::vector<std::string> events;
  constexpr std::string_view kData = "data: ";
  for (size_t at = 0; (at = body.find(kData, at)) != std::string::npos;) {
    const size_t end = body.find("\n\n", at);
    events.push_back(body.substr(at + kData.size(), end - at - kData.size()));
    at = end == std::string::npos ? body.size() : end;
  }
  return events;
}

}  // namespace headstart::testing
