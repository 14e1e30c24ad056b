#include "session_core.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "clearance/messages.hpp"

namespace clearance {

namespace {

// What a stream that ended, or could not be begun, counts as.
Error lost(const char* words = "the stream has ended") { return Error(grpc::StatusCode::UNAVAILABLE, words); }

v1::StreamSessionRequest message_of(const v1::Frame& frame) {
    v1::StreamSessionRequest message;
    *message.mutable_frame() = frame;
    return message;
}

}  // namespace

bool is_forgotten(const Error& error) { return error.reason() == v1::ERROR_REASON_UNKNOWN_SESSION; }

SessionCore::SessionCore(Client client, v1::OpenSessionRequest request, bool is_merging)
    : client_(std::move(client)),
      request_(std::move(request)),
      is_merging_(is_merging),
      mirror_(request_.state()),
      connection_(client_.connections()->current()),
      last_id_(request_.state().frame_id()) {
    request_.clear_state();
}

void SessionCore::open() {
    const RetryPolicy& policy = client_.connections()->options().retry;
    for (unsigned attempt = 1;; attempt++) {
        connection_ = client_.connections()->current();
        try {
            return begin(opened_stream());
        } catch (const Error& error) {
            const auto pause = policy.pause_after(attempt, error);
            if (!pause) throw;
            if (error.is_lost()) {
                // The answer alone may be lost: what this key has opened is to be replaced then.
                if (!request_.session_key().empty()) request_.set_replace(true);
                client_.connections()->move_on(*connection_);
            }
            std::this_thread::sleep_for(*pause);
        }
    }
}

void SessionCore::take_back() {
    const v1::GetSessionResponse found = client_.call(asked_for());
    link_.reset();
    sent_.clear();
    opened_.set_session_id(found.summary().session_id());
    opened_.set_incarnation(found.summary().incarnation());
    last_id_ = std::max<std::uint64_t>(last_id_, found.state().frame_id());
    mirror_ = Mirror(found.state());
    attach_stream();
}

std::uint64_t SessionCore::send(v1::Frame frame, bool is_of_step) {
    if (sent_.empty() && is_draining_) {
        resume(lost("the server is draining"));
    } else if (sent_.empty() && may_move_) {
        connect_anew();
    }
    if (frame.frame_id() == 0) frame.set_frame_id(last_id_ + 1);
    const std::uint64_t id = frame.frame_id();
    last_id_ = std::max(last_id_, id);
    deliver({.frame = std::move(frame), .is_again = false, .is_of_step = is_of_step});
    return id;
}

std::optional<v1::FrameReport> SessionCore::receive() {
    if (passed_.empty()) return report();
    v1::FrameReport first = std::move(passed_.front());
    passed_.pop_front();
    return first;
}

v1::FrameReport SessionCore::step(v1::Frame frame) {
    try {
        const std::uint64_t id = send(std::move(frame), true);
        while (auto one = report()) {
            if (one->frame_id() >= id) return *std::move(one);
            passed_.push_back(*std::move(one));
        }
    } catch (...) {
        // Else its report would be one that nobody waits for.
        std::erase_if(sent_, [](const Sent& sent) { return sent.is_of_step; });
        throw;
    }
    throw Error(grpc::StatusCode::DATA_LOSS, "the report was lost with the connection");
}

v1::QuerySceneResponse SessionCore::query(v1::QuerySceneRequest request) {
    for (unsigned attempt = 1;; attempt++) {
        name(request);
        try {
            return client_.call(request);
        } catch (const Error& error) {
            if (!is_forgotten(error) || attempt > RESTATEMENTS_MAX) throw;
            go_on();
        }
    }
}

void SessionCore::close() {
    is_closed_ = true;
    if (const auto link = std::move(link_)) {
        try {
            link->end();
        } catch (const Error&) {
            // Of a stream that is lost the session is closed all the same.
        }
    }
    v1::CloseSessionRequest request;
    name(request);
    // A server that stops closes its sessions.
    request.set_allow_missing(true);
    client_.call(request);
}

void SessionCore::go_on() {
    link_.reset();
    connection_ = client_.connections()->current();
    try {
        rejoin();
    } catch (const TakenOver&) {
        throw;
    } catch (const Error& error) {
        resume(is_forgotten(error) ? lost() : error);
    }
}

std::optional<v1::FrameReport> SessionCore::report() {
    while (!sent_.empty()) {
        std::optional<v1::StreamSessionResponse> message;
        try {
            if (link_) message = link_->next();
        } catch (const Error& error) {
            recover(error);
            continue;
        }
        if (!message) {
            resume(lost());
            continue;
        }
        if (message->notice() == v1::NOTICE_DRAINING) is_draining_ = true;
        if (message->notice() == v1::NOTICE_RECONNECT) may_move_ = true;
        if (message->notice() == v1::NOTICE_TAKEN_OVER) {
            link_.reset();
            throw TakenOver();
        }
        if (!message->has_report()) continue;
        if (auto told = accept(std::move(*message->mutable_report()))) return told;
    }
    return std::nullopt;
}

std::optional<v1::FrameReport> SessionCore::accept(v1::FrameReport report) {
    const auto is_of = [&](const Sent& sent) { return sent.frame.frame_id() == report.frame_id(); };
    const auto found = std::find_if(sent_.begin(), sent_.end(), is_of);
    // It is told for the second time.
    if (found == sent_.end()) return std::nullopt;
    // Those before it were merged with it.
    for (auto merged = sent_.begin(); merged != found; ++merged) mirror_.apply(merged->frame);
    const Sent answered = std::move(*found);
    const v1::Frame& frame = answered.frame;
    resumed_ = 0;
    sent_.erase(sent_.begin(), found + 1);
    if (report.has_status()) {
        const v1::ErrorReason reason = report.status().reason();
        const bool lacks_base = reason == v1::ERROR_REASON_KEYFRAME_NEEDED || reason == v1::ERROR_REASON_STALE_FRAME;
        if (!lacks_base || frame.keyframe()) return report;
        send_again(answered);
        return std::nullopt;
    }
    const Followed followed = mirror_.apply(frame);
    mirror_.announce(report);
    const bool is_cut = report.omitted_items() > 0 || report.omitted_events() > 0;
    if (followed == Followed::IN_PART || !report.refused_items().empty() || is_cut) refresh();
    return report;
}

void SessionCore::send_again(const Sent& refused) {
    const v1::GetSessionResponse found = client_.call(asked_for());
    // What was refused before it, and is not answered yet, comes before it still.
    Mirror before = mirror_;
    for (const Sent& sent : sent_) {
        if (sent.is_again) before.apply(sent.frame);
    }
    v1::Frame whole = before.whole(refused.frame);
    last_id_ = std::max<std::uint64_t>(last_id_, found.state().frame_id()) + 1;
    whole.set_frame_id(last_id_);
    deliver({.frame = std::move(whole), .is_again = true, .is_of_step = refused.is_of_step});
}

void SessionCore::deliver(Sent sent) {
    sent_.push_back(std::move(sent));
    if (link_) {
        link_->send(message_of(sent_.back().frame));
    } else {
        resume(lost());
    }
}

void SessionCore::refresh() {
    try {
        mirror_ = Mirror(get().state());
    } catch (const Error& error) {
        const bool may_help = client_.connections()->options().retry.pause_after(1, error).has_value();
        if (!is_forgotten(error) && !may_help) throw;
    }
}

void SessionCore::recover(const Error& error) {
    link_.reset();
    if (error.reason() == v1::ERROR_REASON_TAKEN_OVER) throw TakenOver();
    if (is_forgotten(error)) {
        if (++resumed_ > RESTATEMENTS_MAX) give_up(error);
        go_on();
    } else {
        resume(error);
    }
}

void SessionCore::resume(Error why) {
    link_.reset();
    const auto& connections = client_.connections();
    for (unsigned attempt = resumed_ + 1;; attempt++) {
        const auto pause = connections->options().retry.pause_after(attempt, why);
        if (!pause) give_up(why);
        std::this_thread::sleep_for(*pause);
        if (why.is_lost()) connections->move_on(*connection_);
        connection_ = connections->current();
        try {
            rejoin();
            // The stream that is attached may be refused still.
            resumed_ = attempt;
            return;
        } catch (const Error& error) {
            // It may go while a stream is being attached to it.
            why = is_forgotten(error) ? lost() : error;
        }
    }
}

void SessionCore::give_up(const Error& why) {
    resumed_ = 0;
    throw why;
}

void SessionCore::rejoin() {
    std::optional<v1::GetSessionResponse> found;
    try {
        found = get();
    } catch (const Error& error) {
        if (!is_forgotten(error)) throw;
    }
    if (found) {
        const std::uint64_t applied = found->state().frame_id();
        last_id_ = std::max(last_id_, applied);
        const bool is_next = !sent_.empty() && sent_.front().frame.frame_id() == applied;
        if (mirror_.frame_id() < applied && !is_next) {
            // The reports up to there are lost.
            mirror_ = Mirror(found->state());
            std::erase_if(sent_, [&](const Sent& sent) { return sent.frame.frame_id() < applied; });
        }
        attach_stream();
    } else {
        restate();
    }
    is_draining_ = may_move_ = false;
}

void SessionCore::restate() {
    request_.set_session_id(opened_.session_id());
    request_.set_session_key(key());
    request_.set_replace(true);
    begin(opened_stream());
}

void SessionCore::connect_anew() {
    const std::uint64_t incarnation = opened_.incarnation();
    const auto connection = connection_;
    v1::CloseSessionRequest request;
    name(request);
    resume(lost("the server asks to connect anew"));
    if (opened_.incarnation() == incarnation) return;
    request.set_allow_missing(true);
    grpc::ClientContext context;
    client_.connections()->prepare(context, request.session_id());
    v1::CloseSessionResponse closed;
    auto& stub = *std::get<std::unique_ptr<v1::SessionService::Stub>>(connection->stubs);
    // Where this fails, the server closes it when it has been idle for long.
    stub.CloseSession(&context, request, &closed);
}

SessionCore::Begun SessionCore::opened_stream() const {
    try {
        return opened_stream_once();
    } catch (const Error& error) {
        // What it is made of was registered on another server, or was forgotten since.
        const bool lacks_bodies = error.reason() == v1::ERROR_REASON_UNKNOWN_POLYTOPE ||
                                  error.reason() == v1::ERROR_REASON_UNKNOWN_ROBOT;
        if (!lacks_bodies) throw;
    }
    client_.register_again();
    return opened_stream_once();
}

SessionCore::Begun SessionCore::opened_stream_once() const {
    auto messages = opening(request_, mirror_.state(), is_merging_);
    for (const Sent& sent : sent_) messages.push_back(message_of(sent.frame));
    const auto& connections = client_.connections();
    Begun begun;
    begun.connection = connections->current();
    begun.link = std::make_unique<Link>(*connections, begun.connection, request_.session_id(), std::move(messages));
    auto first = begun.link->next();
    if (!first) throw lost();
    if (!first->has_opened()) throw ProtocolError("the session was not opened");
    begun.opened.Swap(first->mutable_opened());
    return begun;
}

void SessionCore::begin(Begun begun) {
    mirror_.announce(begun.opened.report());
    // A key that the server made before stays the key, since it was brought again.
    const std::string key_before = key();
    opened_ = std::move(begun.opened);
    if (opened_.session_key().empty()) opened_.set_session_key(key_before);
    link_ = std::move(begun.link);
    connection_ = std::move(begun.connection);
}

void SessionCore::attach_stream() {
    std::vector<v1::StreamSessionRequest> messages;
    messages.push_back(attaching(opened_.session_id(), key(), opened_.incarnation(), is_merging_));
    for (const Sent& sent : sent_) messages.push_back(message_of(sent.frame));
    const auto& connections = client_.connections();
    connection_ = connections->current();
    link_ = std::make_unique<Link>(*connections, connection_, opened_.session_id(), std::move(messages));
}

v1::GetSessionResponse SessionCore::get() const {
    const auto& connections = client_.connections();
    const auto connection = connections->current();
    grpc::ClientContext context;
    connections->prepare(context, opened_.session_id());
    const auto time_max = connections->options().call_time_max;
    if (time_max.count() > 0) context.set_deadline(std::chrono::system_clock::now() + time_max);
    v1::GetSessionResponse found;
    auto& stub = *std::get<std::unique_ptr<v1::SessionService::Stub>>(connection->stubs);
    const grpc::Status status = stub.GetSession(&context, asked_for(), &found);
    if (!status.ok()) throw Error(status);
    return found;
}

v1::GetSessionRequest SessionCore::asked_for() const {
    v1::GetSessionRequest request;
    name(request);
    if (request.session_id().empty()) request.set_session_id(request_.session_id());
    request.set_reply_bytes_max(static_cast<std::uint64_t>(client_.connections()->options().message_bytes_max));
    return request;
}

std::string SessionCore::key() const {
    return opened_.session_key().empty() ? request_.session_key() : opened_.session_key();
}

}  // namespace clearance
