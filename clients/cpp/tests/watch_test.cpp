// Whoever watches a session.

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "check.hpp"
#include "clearance/clearance.hpp"
#include "scene.hpp"
#include "server.hpp"

namespace {

using clearance::Client;
using testing::moving;
using testing::Server;

// Takes news on a thread of its own: frames by their ids, states by minus one minus the id of theirs.
class Watching {
public:
    explicit Watching(clearance::Watch watch) : watch_(std::move(watch)), thread_([this] { run(); }) {}
    ~Watching() {
        watch_.stop();
        thread_.join();
    }

    // Waits until one of these has come.
    void until(std::initializer_list<std::int64_t> ids) {
        std::unique_lock lock(mutex_);
        const bool has_come = changed_.wait_for(lock, std::chrono::seconds(20), [&] {
            return std::any_of(ids.begin(), ids.end(), [&](std::int64_t id) {
                return std::find(seen_.begin(), seen_.end(), id) != seen_.end();
            });
        });
        CHECK(has_come);
    }
    // Waits for the end.
    void until_end() {
        std::unique_lock lock(mutex_);
        CHECK(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return is_over_; }));
        CHECK_SAME(failure_, "");
    }

private:
    void run() {
        std::string failure;
        try {
            while (const auto news = watch_.next()) {
                const std::lock_guard lock(mutex_);
                if (news->has_state()) seen_.push_back(-1 - static_cast<std::int64_t>(news->state().frame_id()));
                if (news->has_frame()) seen_.push_back(static_cast<std::int64_t>(news->frame().frame_id()));
                changed_.notify_all();
            }
        } catch (const clearance::Error& error) {
            failure = error.what();
        }
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        failure_ = failure;
        changed_.notify_all();
    }

    clearance::Watch watch_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::int64_t> seen_;
    bool is_over_ = false;
    std::string failure_;
    std::thread thread_;
};

TEST("whoever watches goes on watching after a restart, and until the session is closed") {
    Server server;
    auto session = testing::open(Client(server.address()), "watched");
    Watching watching(session.watch());
    watching.until({-1});
    session.step(moving(2, 2));
    watching.until({1});
    server.restart();
    session.step(moving(2, 0.5));
    watching.until({2, -3});
    session.step(moving(2, 3));
    watching.until({3, -4});
    session.close();
    watching.until_end();
}

TEST("a watch restates a session that nobody steps") {
    Server server;
    auto session = testing::open(Client(server.address()), "alone");
    session.step(moving(2, 2));
    Watching watching(session.watch());
    watching.until({-2});
    const auto before = session.incarnation();
    server.restart();
    for (int k = 0; k < 500 && session.incarnation() == before; k++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(session.incarnation() != before);
    CHECK_SAME(testing::told(session.step(moving(2, 0.5))), "BEGAN 1 2; ");
    session.close();
}

TEST("a watch that is stopped has no more news") {
    const Server server;
    auto session = testing::open(Client(server.address()), "stopped");
    auto watch = session.watch();
    CHECK(watch.next()->has_state());
    std::jthread stopping([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        watch.stop();
    });
    CHECK(!watch.next());
    CHECK(!watch.next());
    session.close();
}

TEST("threads may share a session") {
    const Server server;
    auto session = testing::open(Client(server.address()), "threads");
    std::vector<std::jthread> threads;
    for (int k = 0; k < 4; k++) {
        threads.emplace_back([&, k] {
            for (int n = 0; n < 25; n++) {
                if (k % 2 == 0) testing::told(session.step(moving(2, 3 + n)));
                if (k % 2 == 1) session.rays(std::vector<double>{-1, 0.5, 0.5}, std::vector<double>{9, 0, 0});
                session.state();
            }
        });
    }
    threads.clear();
    CHECK_SAME(session.state().frame_id(), 50u);
    session.close();
}

}  // namespace
