#include "link.hpp"

#include <utility>

#include "clearance/error.hpp"

namespace clearance {

namespace {

// Messages of the server that wait to be taken, before no more are read.
constexpr std::size_t WAITING_MAX = 64;

// Bodies of one message of an opening; what more there are comes in messages that follow.
constexpr int BODIES_PER_MESSAGE = 10'000;

}  // namespace

// What gRPC's threads tell. Operations are begun by them, in reactions, and by the thread that has the link. A hold keeps
// the call from being over while that thread may begin one; it alone lets go of it.
class Link::Reactor : public grpc::ClientBidiReactor<v1::StreamSessionRequest, v1::StreamSessionResponse> {
public:
    void begin(v1::SessionService::Stub& stub, grpc::ClientContext& context,
               std::vector<v1::StreamSessionRequest> first) {
        stub.async()->StreamSession(&context, this);
        outbox_.assign(std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
        AddHold();
        StartRead(&read_);
        is_writing_ = true;
        StartWrite(&outbox_.front());
        StartCall();
    }

    void send(v1::StreamSessionRequest message) {
        const v1::StreamSessionRequest* first = nullptr;
        {
            const std::lock_guard lock(mutex_);
            if (reads_ended_) return;
            outbox_.push_back(std::move(message));
            if (std::exchange(is_writing_, true)) return;
            first = &outbox_.front();
        }
        StartWrite(first);
    }

    void finish() {
        {
            const std::lock_guard lock(mutex_);
            if (std::exchange(is_finishing_, true) || is_writing_ || reads_ended_) return;
        }
        StartWritesDone();
    }

    std::optional<v1::StreamSessionResponse> next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !inbox_.empty() || reads_ended_; });
        if (!inbox_.empty()) {
            v1::StreamSessionResponse message = std::move(inbox_.front());
            inbox_.pop_front();
            const bool reads_again = std::exchange(is_full_, false);
            lock.unlock();
            if (reads_again) StartRead(&read_);
            return message;
        }
        lock.unlock();
        const grpc::Status status = over();
        if (!status.ok()) throw Error(status);
        return std::nullopt;
    }

    // Lets go, and waits until the call is over.
    grpc::Status over() {
        if (!std::exchange(has_let_go_, true)) RemoveHold();
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return status_.has_value(); });
        return *status_;
    }

    bool is_over() {
        const std::lock_guard lock(mutex_);
        return status_.has_value();
    }

    void OnReadDone(bool ok) override {
        {
            const std::lock_guard lock(mutex_);
            if (ok) {
                inbox_.push_back(std::move(read_));
                read_.Clear();
                is_full_ = inbox_.size() >= WAITING_MAX;
            } else {
                reads_ended_ = true;
            }
            changed_.notify_all();
            if (!ok || is_full_) return;
        }
        StartRead(&read_);
    }

    void OnWriteDone(bool ok) override {
        const v1::StreamSessionRequest* following = nullptr;
        {
            const std::lock_guard lock(mutex_);
            outbox_.pop_front();
            if (!ok) outbox_.clear();
            is_writing_ = !outbox_.empty();
            if (is_writing_) following = &outbox_.front();
            if (!is_writing_ && (!is_finishing_ || !ok)) return;
        }
        if (following) {
            StartWrite(following);
        } else {
            StartWritesDone();
        }
    }

    void OnDone(const grpc::Status& status) override {
        const std::lock_guard lock(mutex_);
        reads_ended_ = true;
        status_ = status;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    v1::StreamSessionResponse read_;
    std::deque<v1::StreamSessionResponse> inbox_;
    std::deque<v1::StreamSessionRequest> outbox_;
    std::optional<grpc::Status> status_;
    bool is_writing_ = false;
    bool is_full_ = false;
    bool is_finishing_ = false;
    bool reads_ended_ = false;
    // Of the thread that has the link.
    bool has_let_go_ = false;
};

Link::Link(const Connections& connections, std::shared_ptr<const Connection> connection,
           const std::string& session_id, std::vector<v1::StreamSessionRequest> first)
    : connection_(std::move(connection)), reactor_(std::make_unique<Reactor>()) {
    connections.prepare(context_, session_id);
    auto& stub = *std::get<std::unique_ptr<v1::SessionService::Stub>>(connection_->stubs);
    reactor_->begin(stub, context_, std::move(first));
}

Link::~Link() {
    if (!reactor_->is_over()) context_.TryCancel();
    // Whatever has come meanwhile is not wanted any more.
    try {
        while (reactor_->next()) {
        }
    } catch (const Error&) {
        // It was cancelled, or had ended before.
    }
}

void Link::send(v1::StreamSessionRequest message) { reactor_->send(std::move(message)); }

std::optional<v1::StreamSessionResponse> Link::next() { return reactor_->next(); }

void Link::end() {
    reactor_->finish();
    while (reactor_->next()) {
    }
}

std::vector<v1::StreamSessionRequest> opening(const v1::OpenSessionRequest& request, v1::SessionState state,
                                              bool is_merging) {
    std::vector<v1::StreamSessionRequest> messages(1);
    v1::OpenSessionRequest& open = *messages[0].mutable_open();
    open = request;
    messages[0].set_latest_wins(is_merging);
    google::protobuf::RepeatedPtrField<v1::Body> bodies;
    bodies.Swap(state.mutable_bodies());
    *open.mutable_state() = std::move(state);
    auto* piece = open.mutable_state();
    for (v1::Body& body : bodies) {
        if (piece->bodies_size() == BODIES_PER_MESSAGE) {
            messages.back().set_state_continues(true);
            piece = messages.emplace_back().mutable_more_state();
        }
        piece->add_bodies()->Swap(&body);
    }
    return messages;
}

v1::StreamSessionRequest attaching(const std::string& session_id, const std::string& session_key,
                                   std::uint64_t incarnation, bool is_merging) {
    v1::StreamSessionRequest message;
    message.set_session_id(session_id);
    message.set_session_key(session_key);
    message.set_incarnation(incarnation);
    message.set_latest_wins(is_merging);
    message.set_take_over(true);
    return message;
}

}  // namespace clearance
