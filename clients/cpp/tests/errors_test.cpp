// What statuses say, and which of them are tried again.

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "check.hpp"
#include "clearance/clearance.hpp"
#include "details.hpp"
#include "server.hpp"

namespace {

using namespace std::chrono_literals;
using clearance::Error;
using clearance::RetryPolicy;
using grpc::StatusCode;
using testing::any;
using testing::status;
using testing::texts;
namespace v1 = clearance::v1;

std::string retry_in(std::uint64_t seconds, std::uint64_t nanos) {
    return any("RetryInfo", texts({{1, testing::duration(seconds, nanos)}}));
}

TEST("details are told: reason, field, info and when to try again") {
    const std::string entry = texts({{1, "limit"}, {2, "points_max"}});
    const std::string info = texts({{1, "LIMIT_EXCEEDED"}, {2, "clearance.v1"}, {3, entry}});
    const std::string violation = texts({{1, "q.vertices.xyz"}, {2, "too many"}});
    const Error error(status(StatusCode::RESOURCE_EXHAUSTED, "too many points",
                             {any("ErrorInfo", info), any("BadRequest", texts({{1, violation}})), retry_in(1, 500'000'001)}));
    CHECK(error.code() == StatusCode::RESOURCE_EXHAUSTED);
    CHECK_SAME(error.reason(), v1::ERROR_REASON_LIMIT_EXCEEDED);
    CHECK_SAME(error.reason_name(), "LIMIT_EXCEEDED");
    CHECK_SAME(error.field(), "q.vertices.xyz");
    CHECK_SAME(error.info().at("limit"), "points_max");
    CHECK_SAME(error.retry_after()->count(), 1501);
    CHECK(!error.is_lost());
    CHECK_SAME(std::string(error.what()), "RESOURCE_EXHAUSTED: too many points (q.vertices.xyz)");
}

TEST("reasons of other domains, newer reasons, and bytes that are no details are no reasons of ours") {
    const Error foreign(status(StatusCode::INTERNAL, "no", {any("ErrorInfo", texts({{1, "BUSY"}, {2, "example.org"}}))}));
    CHECK_SAME(foreign.reason(), v1::ERROR_REASON_UNSPECIFIED);
    CHECK_SAME(foreign.reason_name(), "");
    const Error newer(status(StatusCode::INTERNAL, "no", {any("ErrorInfo", texts({{1, "NEWER"}, {2, "clearance.v1"}}))}));
    CHECK_SAME(newer.reason(), v1::ERROR_REASON_UNSPECIFIED);
    CHECK_SAME(newer.reason_name(), "NEWER");
    CHECK_SAME(Error(grpc::Status(StatusCode::INTERNAL, "no", "\xff\xff\xff")).field(), "");
}

TEST("a full server is asked again after as long as it says, and no longer than it helps") {
    const RetryPolicy policy;
    const Error full(status(StatusCode::RESOURCE_EXHAUSTED, "full", {retry_in(1, 0)}));
    CHECK(policy.pause_after(1, full) == 1000ms);
    CHECK(policy.pause_after(5, full) == 1600ms);
    CHECK(!policy.pause_after(6, full));
    CHECK(!RetryPolicy{.attempts_max = 1}.pause_after(1, full));
    CHECK(!policy.pause_after(1, Error(StatusCode::RESOURCE_EXHAUSTED, "without RetryInfo")));
}

TEST("a server that stops is left at once and looked for more patiently") {
    const RetryPolicy policy;
    const Error lost(StatusCode::UNAVAILABLE, "draining");
    CHECK(policy.pause_after(1, lost) == 0ms);
    CHECK(policy.pause_after(2, lost) == 200ms);
    CHECK((RetryPolicy{.attempts_max = 100}.pause_after(99, lost) == 5000ms));
}

// A server that answers by these statuses, one after the other, and then well.
class Faulty final : public v1::ServerService::Service {
public:
    explicit Faulty(std::deque<grpc::Status> answers) : answers_(std::move(answers)) {
        grpc::ServerBuilder builder;
        builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
        builder.RegisterService(this);
        server_ = builder.BuildAndStart();
    }
    ~Faulty() override { server_->Shutdown(std::chrono::system_clock::now()); }

    grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                               v1::GetServerInfoResponse*) override {
        const std::lock_guard lock(mutex_);
        calls_++;
        if (answers_.empty()) return grpc::Status::OK;
        const grpc::Status next = answers_.front();
        answers_.pop_front();
        return next;
    }

    int calls() const { return calls_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

private:
    std::mutex mutex_;
    std::deque<grpc::Status> answers_;
    std::atomic<int> calls_ = 0;
    int port_ = 0;
    std::unique_ptr<grpc::Server> server_;
};

struct Seen {
    StatusCode code = StatusCode::OK;
    int calls = 0;
    std::chrono::nanoseconds time{};
};

Seen asked(std::deque<grpc::Status> answers, clearance::CallOptions options = {}) {
    const Faulty faulty(std::move(answers));
    clearance::ConnectOptions how;
    how.retry = {.attempts_max = 4, .pause_first = 1ms, .pause_max = 8ms};
    const clearance::Client client(faulty.address(), how);
    Seen seen;
    const auto begin = std::chrono::steady_clock::now();
    try {
        client.call(v1::GetServerInfoRequest(), options);
    } catch (const Error& error) {
        seen.code = error.code();
    }
    seen.time = std::chrono::steady_clock::now() - begin;
    seen.calls = faulty.calls();
    return seen;
}

TEST("calls are made again where that helps, and nowhere else") {
    const grpc::Status lost(StatusCode::UNAVAILABLE, "draining");
    Seen seen = asked({lost, lost});
    CHECK(seen.code == StatusCode::OK && seen.calls == 3);
    seen = asked({lost, lost, lost, lost, lost});
    CHECK(seen.code == StatusCode::UNAVAILABLE && seen.calls == 4);
    const grpc::Status full = status(StatusCode::RESOURCE_EXHAUSTED, "full", {retry_in(0, 60'000'000)});
    seen = asked({full});
    CHECK(seen.code == StatusCode::OK && seen.calls == 2 && seen.time >= 60ms);
    // It does not wait longer than the call may take.
    seen = asked({full}, {.time_max = 50ms});
    CHECK(seen.code == StatusCode::RESOURCE_EXHAUSTED && seen.calls == 1);
    for (int code = 1; code <= 16; code++) {
        if (code == static_cast<int>(StatusCode::UNAVAILABLE)) continue;
        seen = asked({grpc::Status(static_cast<StatusCode>(code), "no")});
        CHECK_SAME(static_cast<int>(seen.code), code);
        CHECK_SAME(seen.calls, 1);
        // Nor does a server's word for when help, unless it is full.
        if (code == static_cast<int>(StatusCode::RESOURCE_EXHAUSTED)) continue;
        CHECK_SAME(asked({status(static_cast<StatusCode>(code), "no", {retry_in(0, 1)})}).calls, 1);
    }
}

TEST("a call ends when its caller says") {
    const Faulty faulty({});
    const clearance::Client client("127.0.0.1:" + std::to_string(testing::free_port()));
    std::stop_source source;
    source.request_stop();
    const auto stopped = THROWN(Error, clearance::Client(faulty.address()).call(v1::GetServerInfoRequest(),
                                                                 {.stop = source.get_token()}));
    CHECK(stopped.code() == StatusCode::CANCELLED);
    CHECK_SAME(faulty.calls(), 0);
    // While it pauses, too.
    std::stop_source later;
    std::jthread stopping([&] {
        std::this_thread::sleep_for(300ms);
        later.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    THROWN(Error, client.call(v1::GetServerInfoRequest(), {.stop = later.get_token()}));
    CHECK(std::chrono::steady_clock::now() - begin < 1s);
}

TEST("what is no address and no key is refused before any call") {
    THROWN(std::invalid_argument, clearance::Client(""));
    clearance::ConnectOptions options;
    options.key = "two\nlines";
    THROWN(std::invalid_argument, clearance::Client("127.0.0.1:1", options));
}

}  // namespace
