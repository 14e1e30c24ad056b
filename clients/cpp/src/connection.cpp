#include "clearance/connection.hpp"

#include <algorithm>
#include <condition_variable>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace clearance {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

// The header that proxies route by.
constexpr const char* ROUTE = "clearance-session";

// A connection that is idle under calls for so long is asked whether it is still there, and given so long to say so.
// Without that a server that lost its power is waited for until the system gives up, which is many minutes.
constexpr int ALIVE_ASKED_MS = 20'000;

// How long gRPC itself pauses between attempts to connect, in milliseconds: less than the first pause of the usual retry
// policy, so that it does not answer from memory that nobody is there.
constexpr int RECONNECT_MS = 50;
constexpr int RECONNECT_MAX_MS = 1'000;

// Whether a header may have this as its value.
bool is_header(std::string_view value) {
    return std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::shared_ptr<grpc::ChannelCredentials> credentials(bool is_secure, const std::optional<Tls>& tls) {
    if (!is_secure) return grpc::InsecureChannelCredentials();
    grpc::SslCredentialsOptions options;
    if (tls) options = {tls->authorities_pem, tls->key_pem, tls->certificates_pem};
    return grpc::SslCredentials(options);
}

template <std::size_t... At>
Stubs stubs_over(const std::shared_ptr<grpc::Channel>& channel, std::index_sequence<At...>) {
    return {std::make_unique<typename std::tuple_element_t<At, Stubs>::element_type>(channel)...};
}

// Sleeps, unless it is told to stop.
void sleep(milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    stopped.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

Connections::Connections(std::vector<std::string> addresses, ConnectOptions options)
    : addresses_(std::move(addresses)), options_(std::move(options)) {
    if (addresses_.empty()) throw std::invalid_argument("there has to be an address");
    if (!is_header(options_.key) || !is_header(options_.route)) {
        throw std::invalid_argument("the key or the route is none that a header may have");
    }
    current_ = connect(0, 0);
}

std::shared_ptr<const Connection> Connections::connect(std::size_t server, std::size_t number) const {
    std::string_view address = addresses_[server];
    bool is_secure = false;
    if (address.starts_with("http://")) {
        address.remove_prefix(7);
    } else if (address.starts_with("https://")) {
        address.remove_prefix(8);
        is_secure = true;
    }
    while (address.ends_with('/') && !address.starts_with("unix:")) address.remove_suffix(1);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(options_.message_bytes_max);
    arguments.SetMaxSendMessageSize(-1);
    // A new connection shares nothing with one that was given up, such as how long it is to wait.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, RECONNECT_MS);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, RECONNECT_MAX_MS);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ALIVE_ASKED_MS);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ALIVE_ASKED_MS);
    // What is made again, and when, is said in retry.hpp alone.
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    if (is_secure && options_.tls && !options_.tls->server_name.empty()) {
        arguments.SetSslTargetNameOverride(options_.tls->server_name);
    }
    auto channel = grpc::CreateCustomChannel(std::string(address), credentials(is_secure, options_.tls), arguments);
    auto stubs = stubs_over(channel, std::make_index_sequence<std::tuple_size_v<Stubs>>());
    return std::make_shared<const Connection>(Connection{std::move(channel), std::move(stubs), number, server});
}

std::shared_ptr<const Connection> Connections::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

void Connections::move_on(const Connection& from) {
    const std::lock_guard lock(mutex_);
    if (current_->number != from.number) return;
    current_ = connect((from.server + 1) % addresses_.size(), from.number + 1);
}

void Connections::prepare(grpc::ClientContext& context, const std::string& session_id) const {
    if (!options_.key.empty()) context.AddMetadata("authorization", "Bearer " + options_.key);
    const std::string& route = options_.route.empty() ? session_id : options_.route;
    // An id that is none is refused by the server, with its field.
    if (!route.empty() && is_header(route)) context.AddMetadata(ROUTE, route);
}

void Connections::retried(const Ask& ask, const std::string& session_id, CallOptions call) {
    const milliseconds time_max = call.time_max.count() > 0 ? call.time_max : options_.call_time_max;
    const bool is_timed = time_max.count() > 0;
    const auto end = steady_clock::now() + time_max;
    for (unsigned attempt = 1;; attempt++) {
        const auto connection = current();
        grpc::ClientContext context;
        prepare(context, session_id);
        if (is_timed) {
            const auto left = std::chrono::duration_cast<system_clock::duration>(end - steady_clock::now());
            context.set_deadline(system_clock::now() + left);
        }
        const grpc::Status status = [&] {
            const std::stop_callback cancel(call.stop, [&] { context.TryCancel(); });
            return ask(*connection, context);
        }();
        if (status.ok()) return;
        const Error error(status);
        const auto pause = options_.retry.pause_after(attempt, error);
        if (!pause || call.stop.stop_requested() || (is_timed && steady_clock::now() + *pause >= end)) throw error;
        if (error.is_lost()) move_on(*connection);
        sleep(*pause, call.stop);
    }
}

}  // namespace clearance
