#include "scheduler/http/http_connection.h"

#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace tidemark {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

// Smaller bodies are not counted as held: however many there are, they come to little.
constexpr size_t kSmallBody = size_t{64} * 1024;
// How long, and how much, is read of a peer that still talks when it has its last answer: a reset
// could overtake the answer.
constexpr absl::Duration kLinger = absl::Seconds(1);
constexpr size_t kMaxLinger = size_t{1024} * 1024;

std::string PeerName(const tcp::socket& socket) {
  beast::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return "";
  const std::string port = ":" + std::to_string(peer.port());
  const std::string address = peer.address().to_string();
  return peer.address().is_v6() ? "ipv6:[" + address + "]" + port : "ipv4:" + address + port;
}

std::string Text(beast::string_view view) { return {view.data(), view.size()}; }

WebResponse Refusal(int status, const std::string& code, const std::string& message) {
  // The messages are ours and hold nothing to be escaped.
  return {status, R"({"code":")" + code + R"(","message":")" + message + "\"}\n"};
}

using Header = http::request<http::string_body>;

// The first of the headers that we judge by which was sent more than once, or "": which of two is
// meant, a proxy before us may see differently.
std::string SentTwice(const Header& header) {
  for (const http::field field : {http::field::host, http::field::authorization,
                                  http::field::content_type, http::field::origin}) {
    if (header.count(field) > 1) return Text(http::to_string(field));
  }
  return "";
}

bool IsProtocolError(const beast::error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

template <typename Stream>
class ConnectionOn : public HttpConnection,
                     public std::enable_shared_from_this<ConnectionOn<Stream>> {
 public:
  template <typename... Args>
  ConnectionOn(HttpShared& shared, Args&&... args)
      : shared_(shared), stream_(std::forward<Args>(args)...) {
    place_ = shared_.open.insert(shared_.open.end(), this);
    ++shared_.connections;
  }
  ~ConnectionOn() override {
    LeaveWaiting();
    Release();
    shared_.open.erase(place_);
    --shared_.connections;
  }

  void Begin() {
    peer_ = PeerName(tcp_stream().socket());
    EnterWaiting();
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      Expire(shared_.options.read_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              beast::bind_front_handler(&ConnectionOn::OnHandshake, Self()));
    } else {
      ReadHeader(shared_.options.read_timeout);
    }
  }

  void Cut() override {
    beast::error_code ignored;
    tcp_stream().socket().close(ignored);
    const auto last = std::exchange(asking_, nullptr);
  }

 private:
  std::shared_ptr<ConnectionOn> Self() { return this->shared_from_this(); }
  beast::tcp_stream& tcp_stream() { return beast::get_lowest_layer(stream_); }
  void Expire(absl::Duration after) {
    tcp_stream().expires_after(absl::ToChronoMilliseconds(after));
  }

  void OnHandshake(beast::error_code error) {
    if (error) {
      Failed(error);
      return;
    }
    ReadHeader(shared_.options.read_timeout);
  }

  void EnterWaiting() {
    if (waiting_.has_value()) return;
    waiting_ = shared_.waiting.insert(shared_.waiting.end(), this);
  }
  void LeaveWaiting() {
    if (waiting_.has_value()) shared_.waiting.erase(*waiting_);
    waiting_.reset();
  }
  // Takes memory of all; false when there is none left.
  bool Hold(size_t bytes) {
    if (bytes <= kSmallBody) return true;
    if (shared_.held_bytes + bytes > shared_.options.max_held_bytes) return false;
    shared_.held_bytes += bytes;
    held_ += bytes;
    return true;
  }
  void Release() { shared_.held_bytes -= std::exchange(held_, 0); }

  void ReadHeader(absl::Duration timeout) {
    EnterWaiting();
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(shared_.options.max_header_bytes));
    parser_->body_limit(shared_.options.max_body_bytes);
    Expire(timeout);
    http::async_read_header(stream_, buffer_, *parser_,
                            beast::bind_front_handler(&ConnectionOn::OnHeader, Self()));
  }

  void OnHeader(beast::error_code error, size_t) {
    if (error) {
      Failed(error);
      return;
    }
    const HttpOptions& options = shared_.options;
    const auto length = parser_->content_length();
    // Whatever the coding is: of one that we do not know, we would take the body for a request.
    if (parser_->get().count(http::field::transfer_encoding) > 0) {
      Refuse(Refusal(411, "INVALID_ARGUMENT",
                     "send the body with a Content-Length, not chunked or in another "
                     "Transfer-Encoding"));
      return;
    }
    if (const std::string twice = SentTwice(parser_->get()); !twice.empty()) {
      Refuse(Refusal(400, "INVALID_ARGUMENT", "the header " + twice + " was sent more than once"));
      return;
    }
    if (length && *length > options.max_body_bytes) {
      Refuse(Refusal(413, "RESOURCE_EXHAUSTED",
                     "the body is larger than " + std::to_string(options.max_body_bytes) +
                         " bytes (http-max-body)"));
      return;
    }
    if (length && !Hold(*length)) {
      Refuse(Refusal(503, "UNAVAILABLE",
                     "requests and answers under way fill the server's memory for them (" +
                         std::to_string(options.max_held_bytes) + " bytes); try again"));
      return;
    }
    Expire(options.read_timeout);
    if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
      continue_.emplace(http::status::continue_, 11);
      http::async_write(stream_, *continue_,
                        beast::bind_front_handler(&ConnectionOn::OnContinue, Self()));
      return;
    }
    ReadBody();
  }

  void OnContinue(beast::error_code error, size_t) {
    if (error) {
      Failed(error);
      return;
    }
    ReadBody();
  }

  void ReadBody() {
    http::async_read(stream_, buffer_, *parser_,
                     beast::bind_front_handler(&ConnectionOn::OnRequest, Self()));
  }

  void OnRequest(beast::error_code error, size_t) {
    if (error) {
      Failed(error);
      return;
    }
    LeaveWaiting();
    tcp_stream().expires_never();
    auto& message = parser_->get();
    keep_alive_ = message.keep_alive();
    head_ = message.method() == http::verb::head;
    WebRequest request;
    request.method = Text(message.method_string());
    const std::string target = Text(message.target());
    const size_t question = target.find('?');
    request.path = target.substr(0, question);
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.host = Text(message[http::field::host]);
    request.origin = Text(message[http::field::origin]);
    request.authorization = Text(message[http::field::authorization]);
    request.content_type = Text(message[http::field::content_type]);
    request.body = std::move(message.body());
    request.peer = peer_;
    Ask(std::move(request));
  }

  void Ask(WebRequest request) {
    // A reply must not keep the connection: it may come when the server is gone.
    asking_ = Self();
    shared_.handler(std::move(request),
                    [&io = shared_.io, weak = this->weak_from_this()](WebResponse response) {
                      asio::post(io, [weak, response = std::move(response)]() mutable {
                        if (const auto self = weak.lock()) self->Answer(std::move(response));
                      });
                    });
  }

  void Answer(WebResponse response) {
    const auto keep = std::exchange(asking_, nullptr);
    if (keep == nullptr) return;
    Release();
    if (!Hold(response.body.size())) {
      response = Refusal(503, "UNAVAILABLE", "answers under way fill the memory for them");
    }
    Write(std::move(response));
  }

  // Answers what is not a request that the handler should see, and ends the connection.
  void Refuse(WebResponse response) {
    ++shared_.bad;
    LeaveWaiting();
    Release();
    keep_alive_ = false;
    Write(std::move(response));
  }

  void Write(WebResponse response) {
    response_.emplace(static_cast<http::status>(response.status), 11);
    response_->set(http::field::content_type, response.content_type);
    response_->set("X-Content-Type-Options", "nosniff");
    response_->set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : response.headers) response_->insert(name, value);
    response_->body() = std::move(response.body);
    response_->keep_alive(keep_alive_);
    response_->prepare_payload();
    if (head_) response_->body().clear();
    Expire(shared_.options.write_timeout);
    http::async_write(stream_, *response_,
                      beast::bind_front_handler(&ConnectionOn::OnWritten, Self()));
  }

  void OnWritten(beast::error_code error, size_t) {
    Release();
    response_.reset();
    if (error) {
      Failed(error);
      return;
    }
    if (keep_alive_) {
      ReadHeader(shared_.options.idle_timeout);
      return;
    }
    beast::error_code ignored;
    tcp_stream().socket().shutdown(tcp::socket::shutdown_send, ignored);
    waiting_ = shared_.waiting.insert(shared_.waiting.begin(), this);  // the first to give way
    Expire(kLinger);
    Linger();
  }

  void Linger() {
    tcp_stream().async_read_some(asio::buffer(rest_),
                                 beast::bind_front_handler(&ConnectionOn::OnRest, Self()));
  }
  void OnRest(beast::error_code error, size_t bytes) {
    lingered_ += bytes;
    if (error || lingered_ > kMaxLinger) return;  // gone
    Linger();
  }

  void Failed(const beast::error_code& error) {
    if (error == beast::error::timeout) ++shared_.timed_out;
    if (!IsProtocolError(error)) return;  // gone
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      Refuse(Refusal(431, "RESOURCE_EXHAUSTED",
                     "the request's headers are larger than " +
                         std::to_string(shared_.options.max_header_bytes) + " bytes"));
    } else if (error == http::error::body_limit) {
      Refuse(Refusal(413, "RESOURCE_EXHAUSTED",
                     "the body is larger than " + std::to_string(shared_.options.max_body_bytes) +
                         " bytes (http-max-body)"));
    } else {
      Refuse(Refusal(400, "INVALID_ARGUMENT", "this is no HTTP/1.1 request"));
    }
  }

  HttpShared& shared_;
  Stream stream_;
  beast::flat_buffer buffer_{size_t{128} * 1024};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::empty_body>> continue_;
  std::optional<http::response<http::string_body>> response_;
  std::string peer_;
  bool keep_alive_ = false;
  bool head_ = false;
  size_t held_ = 0;
  size_t lingered_ = 0;
  char rest_[1024];
  std::list<HttpConnection*>::iterator place_;
  std::optional<std::list<HttpConnection*>::iterator> waiting_;
  std::shared_ptr<ConnectionOn> asking_;  // itself, while the handler has its request
};

}  // namespace

void ServeHttp(HttpShared& shared, tcp::socket socket) {
  std::make_shared<ConnectionOn<PlainStream>>(shared, std::move(socket))->Begin();
}

void ServeHttps(HttpShared& shared, tcp::socket socket,
                const std::shared_ptr<asio::ssl::context>& context) {
  // The stream's SSL object keeps a reference to OpenSSL's context of its own.
  std::make_shared<ConnectionOn<TlsStream>>(shared, std::move(socket), *context)->Begin();
}

}  // namespace tidemark
