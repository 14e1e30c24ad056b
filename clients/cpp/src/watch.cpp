#include "clearance/watch.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "clearance/client.hpp"
#include "session_core.hpp"

namespace clearance {

class Watch::State {
public:
    explicit State(std::shared_ptr<SessionCore> core) : core_(std::move(core)) {}

    std::optional<v1::WatchSessionResponse> next() {
        while (begin()) {
            try {
                if (auto news = stream_->next()) {
                    attempt_ = 0;
                    was_closed_ = news->notice() == v1::NOTICE_CLOSED;
                    return news;
                }
                end();
                if (was_closed_ && !is_another()) return std::nullopt;
                // A server that drains ends it.
                pause(core_->client().connections()->options().retry.pause_first);
            } catch (const Error& error) {
                end();
                if (!is_stopped()) recover(error);
            }
        }
        return std::nullopt;
    }

    void stop() {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        if (stream_) stream_->cancel();
        stopped_.notify_all();
    }

private:
    // Whether there is a stream to read.
    bool begin() {
        if (stream_) return !is_stopped();
        v1::WatchSessionRequest request;
        {
            const std::lock_guard lock(core_->mutex);
            if (core_->is_closed()) return false;
            core_->name(request);
        }
        incarnation_ = request.incarnation();
        was_closed_ = false;
        const std::lock_guard lock(mutex_);
        if (is_stopped_) return false;
        stream_.emplace(core_->client().stream(request));
        return true;
    }

    void end() {
        const std::lock_guard lock(mutex_);
        stream_.reset();
    }

    // Goes on after an error, if something helps.
    void recover(const Error& error) {
        attempt_++;
        const bool is_gone = is_forgotten(error) || error.reason() == v1::ERROR_REASON_SESSION_REPLACED;
        if (is_gone && is_another()) return;
        if (is_forgotten(error) && attempt_ <= RESTATEMENTS_MAX) {
            const std::lock_guard lock(core_->mutex);
            if (!core_->is_closed() && core_->opened().incarnation() == incarnation_) core_->go_on();
            return;
        }
        const auto wait = core_->client().connections()->options().retry.pause_after(attempt_, error);
        if (!wait) throw error;
        pause(*wait);
    }

    // Whether the session has been opened anew, or closed, since it was last watched.
    bool is_another() const {
        const std::lock_guard lock(core_->mutex);
        return core_->is_closed() || core_->opened().incarnation() != incarnation_;
    }

    bool is_stopped() {
        const std::lock_guard lock(mutex_);
        return is_stopped_;
    }

    void pause(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        stopped_.wait_for(lock, time, [&] { return is_stopped_; });
    }

    std::shared_ptr<SessionCore> core_;
    std::mutex mutex_;
    std::condition_variable stopped_;
    std::optional<Answers<v1::WatchSessionResponse>> stream_;
    bool is_stopped_ = false;
    // Of the thread that takes news.
    std::uint64_t incarnation_ = 0;
    unsigned attempt_ = 0;
    bool was_closed_ = false;
};

Watch::Watch(std::shared_ptr<SessionCore> core) : state_(std::make_unique<State>(std::move(core))) {}
Watch::Watch(Watch&&) noexcept = default;
Watch::~Watch() {
    if (state_) state_->stop();
}

std::optional<v1::WatchSessionResponse> Watch::next() { return state_->next(); }
void Watch::stop() { state_->stop(); }

}  // namespace clearance
