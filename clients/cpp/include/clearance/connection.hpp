// Where servers are, how they are reached, and the connection that is in use.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "clearance/credentials.hpp"
#include "clearance/methods.hpp"
#include "clearance/retry.hpp"

namespace clearance {

// How servers are reached.
struct ConnectOptions {
    // Brought with each call, for servers that ask for one; empty: none.
    std::string key{};
    // Needed where addresses begin with `https` and the system does not trust the server's authority.
    std::optional<Tls> tls{};
    // When calls are made again.
    RetryPolicy retry{};
    // How long a call may take, its repetitions included, where it says nothing itself; 0: as long as it takes. Streams
    // take as long as they take.
    std::chrono::milliseconds call_time_max{0};
    // Bytes of the longest message that is received. Longer replies than 4,000,000 bytes come only where a request asks
    // for them (`reply_bytes_max`).
    int message_bytes_max = 64 << 20;
    // For proxies that route by the header `clearance-session`: all calls of this client bring this in it. Empty: calls
    // about a session bring its id, and others nothing.
    std::string route{};
};

// What one call says for itself.
struct CallOptions {
    // How long it may take, its repetitions included; 0: as ConnectOptions says.
    std::chrono::milliseconds time_max{0};
    // Gives it up: it then throws CANCELLED.
    std::stop_token stop{};
};

// A connection to one server.
struct Connection {
    std::shared_ptr<grpc::Channel> channel;
    Stubs stubs;
    // How many connections there were before.
    std::size_t number;
    // Index of the server among the addresses.
    std::size_t server;
};

// All addresses, of which one is in use. Threads may share it.
class Connections {
public:
    // Addresses are `HOST:PORT`, `http://HOST:PORT`, `https://HOST:PORT` with TLS, or `unix:PATH`. Connections are made
    // with the first call. Throws `std::invalid_argument` if there is no address, or a key that no header may have.
    Connections(std::vector<std::string> addresses, ConnectOptions options);

    const ConnectOptions& options() const { return options_; }

    // The connection in use.
    std::shared_ptr<const Connection> current() const;

    // Takes the next server, or a new connection to the only one, unless somebody has done so since.
    void move_on(const Connection& from);

    // Puts the key, and what proxies route by, into the headers of a call.
    void prepare(grpc::ClientContext& context, const std::string& session_id) const;

    // Asks until there is an answer, or nothing helps any more; then it throws `Error`.
    using Ask = std::function<grpc::Status(const Connection&, grpc::ClientContext&)>;
    void retried(const Ask& ask, const std::string& session_id, CallOptions call);

private:
    std::shared_ptr<const Connection> connect(std::size_t server, std::size_t number) const;

    std::vector<std::string> addresses_;
    ConnectOptions options_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Connection> current_;
};

// The session that a request is about, for proxies that route by it; nothing where it is about none.
template <class Request>
std::string session_of(const Request& request) {
    if constexpr (requires { std::string(request.session_id()); }) {
        return request.session_id();
    } else {
        return {};
    }
}

}  // namespace clearance
