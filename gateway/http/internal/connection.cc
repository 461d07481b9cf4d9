#include "gateway/http/internal/connection.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "gateway/http/internal/local_host.h"

namespace headstart {
namespace {

// Of what a client sends on while it waits for an answer: several small requests.
constexpr size_t kReadAheadBytes = 64 << 10;

// Long enough for what is under way in the network to arrive and be dropped.
constexpr absl::Duration kLinger = absl::Seconds(2);
constexpr int64_t kMaxDroppedBytes = 1 << 20;

constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";

std::chrono::nanoseconds ToChrono(absl::Duration duration) {
  return absl::ToChronoNanoseconds(std::min(duration, absl::Hours(24)));
}

}  // namespace

Connection::Connection(std::shared_ptr<IoThreads> threads, boost::asio::any_io_executor executor,
                       std::unique_ptr<Transport> transport, std::string peer,
                       std::shared_ptr<const ConnectionContext> context, bool surplus,
                       std::function<void(Connection&)> closed)
    : threads_(std::move(threads)),
      executor_(std::move(executor)),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      context_(std::move(context)),
      surplus_(surplus),
      closed_(std::move(closed)),
      read_timer_(executor_),
      write_timer_(executor_) {}

void Connection::Start() {
  SetDeadline(options().header_timeout);
  transport_->Handshake([self = shared_from_this()](boost::system::error_code error) { self->OnHandshake(error); });
}

void Connection::OnHandshake(boost::system::error_code error) {
  if (state_ == State::kClosed) return;
  if (error) return Abort();
  certificate_ = transport_->PeerCertificate();
  state_ = State::kIdle;
  SetDeadline(options().idle_timeout);
  Read();
}

void Connection::Drain() {
  if (state_ == State::kAnswering) return answer_->CloseAfterwards();
  if (state_ == State::kIdle || state_ == State::kHandshake) Abort();
}

void Connection::Abort() {
  if (std::exchange(state_, State::kClosed) == State::kClosed) return;
  const auto self = shared_from_this();
  read_timer_.cancel();
  write_timer_.cancel();
  transport_->Close();
  if (const auto answer = std::exchange(answer_, nullptr)) answer->Gone();
  closed_(*this);
}

// --- Reading

void Connection::Read() {
  const bool full = state_ == State::kAnswering && input_.size() >= kReadAheadBytes;
  if (reading_ || input_ended_ || full || state_ == State::kClosed) return;
  reading_ = true;
  transport_->Read(
      boost::asio::buffer(chunk_),
      [self = shared_from_this()](boost::system::error_code error, size_t bytes) { self->OnRead(error, bytes); });
}

void Connection::OnRead(boost::system::error_code error, size_t bytes) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  if (error) return error == boost::asio::error::eof ? OnEndOfInput() : Abort();
  if (state_ == State::kLingering) {
    dropped_bytes_ += static_cast<int64_t>(bytes);
    if (dropped_bytes_ > kMaxDroppedBytes) return Abort();
  } else {
    input_.append(chunk_.data(), bytes);
    Advance();
  }
  Read();
}

// Of a client that has all of its answer on the way nothing more is wanted; any other is gone.
void Connection::OnEndOfInput() {
  input_ended_ = true;
  if (state_ == State::kAnswering && answer_->complete()) return answer_->CloseAfterwards();
  Abort();
}

// --- Requests

void Connection::Advance() {
  while (state_ == State::kIdle || state_ == State::kHead || state_ == State::kBody) {
    if (state_ == State::kIdle && !BeginRequest()) return;
    const RequestReader::Fed fed = reader_->Feed(input_);
    input_.erase(0, fed.bytes);
    switch (fed.progress) {
      case RequestReader::Progress::kNeedMore:
        return;
      case RequestReader::Progress::kHead:
        OnHead();
        break;
      case RequestReader::Progress::kDone:
        OnRequest();
        break;
      case RequestReader::Progress::kFailed:
        Refuse(HttpError(reader_->problem().status, reader_->problem().message));
        break;
    }
  }
}

// Empty lines before a request are passed over, as old clients send them after a body.
bool Connection::BeginRequest() {
  const size_t start = input_.find_first_not_of("\r\n");
  input_.erase(0, start);
  if (start == std::string::npos) return false;
  state_ = State::kHead;
  SetDeadline(options().header_timeout);
  reader_.emplace(RequestReader::Limits{options().max_header_bytes, options().max_body_bytes});
  return true;
}

void Connection::OnHead() {
  HttpRequest& head = reader_->head();
  head.peer = peer_;
  head.certificate = certificate_;
  if (auto unwanted = Unwanted(head)) return Refuse(*std::move(unwanted));
  state_ = State::kBody;
  SetDeadline(options().body_timeout);
  if (!reader_->expects_continue()) return;
  interim_ = kContinue;
  Flush();
}

void Connection::OnRequest() {
  const bool keep_alive = reader_->keep_alive() && !context_->stopping && !surplus_;
  const bool is_http_1_0 = reader_->is_http_1_0();
  HttpRequest request = reader_->Take();
  request.peer = peer_;
  request.certificate = certificate_;
  state_ = State::kAnswering;
  read_timer_.cancel();
  auto preliminary = Preliminary(request);
  answer_ = MakeAnswer(std::move(request), keep_alive, is_http_1_0);
  auto handle = std::make_shared<AnswerHandle>(answer_);
  if (preliminary) return handle->Send(*std::move(preliminary));
  context_->router.Dispatch(std::move(handle));
}

// Answers that no handler needs to be asked for.
std::optional<HttpResponse> Connection::Preliminary(const HttpRequest& request) const {
  if (surplus_) {
    HttpResponse busy = HttpError(503, "this server has as many connections as it takes; try again");
    busy.headers.emplace_back("Retry-After", "1");
    return busy;
  }
  if (options().local_hosts_only && !IsLocalHost(request.Header("host"))) {
    return HttpError(421,
                     "this server asks for no credential and answers to names of this machine alone, such as "
                     "localhost: the header Host has another one");
  }
  if (request.method != "OPTIONS" || options().cors_origin.empty()) return std::nullopt;
  return HttpResponse{.status = 204,
                      .headers = {{"Access-Control-Allow-Methods", "GET, HEAD, POST"},
                                  {"Access-Control-Allow-Headers", "*, authorization, content-type"},
                                  {"Access-Control-Max-Age", "86400"}}};
}

// The answer to a request whose body need not be read.
std::optional<HttpResponse> Connection::Unwanted(const HttpRequest& head) const {
  if (auto preliminary = Preliminary(head)) return preliminary;
  return options().refuse ? options().refuse(head) : std::nullopt;
}

std::shared_ptr<Answer> Connection::MakeAnswer(HttpRequest request, bool keep_alive, bool is_http_1_0) {
  return std::make_shared<Answer>(std::move(request),
                                  Answer::Policy{.is_http_1_0 = is_http_1_0,
                                                 .keep_alive = keep_alive,
                                                 .max_unread_bytes = options().max_unread_bytes,
                                                 .cors_origin = options().cors_origin,
                                                 .now = options().now},
                                  Posted(&Connection::Flush), Posted(&Connection::Abort));
}

// What follows cannot be told apart from the rest of a request that is not understood, or not read: the connection
// ends.
void Connection::Refuse(HttpResponse answer) {
  state_ = State::kAnswering;
  read_timer_.cancel();
  input_.clear();
  answer_ = MakeAnswer({}, /*keep_alive=*/false, /*is_http_1_0=*/false);
  answer_->Send(std::move(answer));
}

// --- Answers

void Connection::Flush() {
  if (writing_ || state_ == State::kClosed) return;
  output_ = std::exchange(interim_, {});
  Answer::Output output;
  if (answer_ != nullptr) output = answer_->Take();
  output_counted_ = output.bytes.size();
  output_completes_ = output.complete;
  output_ += output.bytes;
  output_written_ = 0;
  if (!output_.empty()) return WriteSome();
  if (output_completes_) OnAnswered();
}

void Connection::WriteSome() {
  writing_ = true;
  write_timer_.expires_after(ToChrono(options().write_timeout));
  write_timer_.async_wait([self = weak_from_this()](boost::system::error_code error) {
    const auto connection = self.lock();
    if (error || connection == nullptr || !connection->writing_) return;
    if (std::chrono::steady_clock::now() >= connection->write_timer_.expiry()) connection->Abort();
  });
  transport_->Write(
      boost::asio::buffer(output_) + output_written_,
      [self = shared_from_this()](boost::system::error_code error, size_t bytes) { self->OnWritten(error, bytes); });
}

void Connection::OnWritten(boost::system::error_code error, size_t bytes) {
  writing_ = false;
  if (state_ == State::kClosed) return;
  if (error) return Abort();
  output_written_ += bytes;
  if (output_written_ < output_.size()) return WriteSome();
  write_timer_.cancel();
  if (answer_ != nullptr) answer_->Taken(output_counted_);
  if (output_completes_) return OnAnswered();
  Flush();
}

void Connection::OnAnswered() {
  output_completes_ = false;
  const bool keep_alive = answer_->keep_alive() && !context_->stopping && !input_ended_;
  answer_.reset();
  reader_.reset();
  if (!keep_alive) return Linger();
  state_ = State::kIdle;
  SetDeadline(options().idle_timeout);
  Advance();
  Read();
}

void Connection::Linger() {
  if (input_ended_) return Abort();
  state_ = State::kLingering;
  transport_->EndOutput();
  SetDeadline(kLinger);
  Read();
}

// --- Deadlines

void Connection::SetDeadline(absl::Duration patience) {
  read_timer_.expires_after(ToChrono(patience));
  read_timer_.async_wait([self = weak_from_this()](boost::system::error_code error) {
    const auto connection = self.lock();
    if (error || connection == nullptr) return;
    // One that was set anew after it had passed calls as well.
    if (std::chrono::steady_clock::now() >= connection->read_timer_.expiry()) connection->OnDeadline();
  });
}

void Connection::OnDeadline() {
  switch (state_) {
    case State::kHead:
      return Refuse(HttpError(408, "the request's headers took too long to arrive"));
    case State::kBody:
      return Refuse(HttpError(408, "the request's body took too long to arrive"));
    case State::kAnswering:
    case State::kClosed:
      return;
    case State::kHandshake:
    case State::kIdle:
    case State::kLingering:
      return Abort();
  }
}

// Holds no connection: one that is closed is gone, whatever is still posted to it.
std::function<void()> Connection::Posted(void (Connection::*method)()) {
  return [threads = threads_, executor = executor_, self = weak_from_this(), method] {
    boost::asio::post(executor, [self, method] {
      if (const auto connection = self.lock()) (connection.get()->*method)();
    });
  };
}

}  // namespace headstart
