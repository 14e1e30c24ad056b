// What a session is, and how it goes on where a connection, a server or a frame is lost. See session.hpp for what is done
// when.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "clearance/client.hpp"
#include "link.hpp"
#include "mirror.hpp"

namespace clearance {

// How often one call restates the session, before it gives up.
constexpr unsigned RESTATEMENTS_MAX = 8;

// Whether the server knows no such session.
bool is_forgotten(const Error& error);

// A session. Whoever calls it holds `mutex`, but for `client`.
class SessionCore {
public:
    // How it is opened; with its id and its key where it is there already.
    SessionCore(Client client, v1::OpenSessionRequest request, bool is_merging);

    std::mutex mutex;

    // Opens it with the state of the request.
    void open();
    // Goes on with what another stream has, or had, in its place. Frames that are not answered are forgotten.
    void take_back();

    const Client& client() const { return client_; }
    const v1::OpenSessionResponse& opened() const { return opened_; }
    v1::SessionState state() const { return mirror_.state(); }
    bool is_draining() const { return is_draining_; }
    bool is_closed() const { return is_closed_; }

    // See Session.
    std::uint64_t send(v1::Frame frame, bool is_of_step = false);
    std::optional<v1::FrameReport> receive();
    v1::FrameReport step(v1::Frame frame);
    v1::QuerySceneResponse query(v1::QuerySceneRequest request);
    void close();

    // Goes on where it was, if the server has it still, and else opens it anew.
    void go_on();

    // Says in a request which session is meant.
    template <class Request>
    void name(Request& request) const {
        request.set_session_id(opened_.session_id());
        request.set_session_key(key());
        request.set_incarnation(opened_.incarnation());
    }

private:
    // A frame that is not answered yet.
    struct Sent {
        v1::Frame frame;
        // It was refused, and sent again with the pose of every body.
        bool is_again = false;
        // Somebody waits for its report, and for no other.
        bool is_of_step = false;
    };
    // A stream on which the session was opened.
    struct Begun {
        std::unique_ptr<Link> link;
        std::shared_ptr<const Connection> connection;
        v1::OpenSessionResponse opened;
    };

    // The next report from the stream; nothing: every frame is answered.
    std::optional<v1::FrameReport> report();
    // Takes in a report; nothing is left if the frame was sent again as a keyframe.
    std::optional<v1::FrameReport> accept(v1::FrameReport report);
    void send_again(const Sent& refused);
    void deliver(Sent sent);
    // Asks the server what is declared; where it is gone meanwhile, what is known has to do.
    void refresh();
    // Goes on after the stream ended with an error, if something helps.
    void recover(const Error& error);
    // Goes on with a new stream, here or on another server, and sends what is not answered.
    void resume(Error why);
    [[noreturn]] void give_up(const Error& why);
    // Attaches a stream to the session if it is there, else opens it anew.
    void rejoin();
    void restate();
    // Goes on over a new connection. Where that leads to another server, the session is closed on the one that had it.
    void connect_anew();
    // Opens it with what is not answered; bodies that are missing are registered again.
    Begun opened_stream() const;
    Begun opened_stream_once() const;
    void begin(Begun begun);
    void attach_stream();
    // What the server has declared of the session, asked once.
    v1::GetSessionResponse get() const;
    v1::GetSessionRequest asked_for() const;
    std::string key() const;

    Client client_;
    v1::OpenSessionRequest request_;
    bool is_merging_;
    v1::OpenSessionResponse opened_;
    Mirror mirror_;
    std::unique_ptr<Link> link_;
    // The connection of that stream.
    std::shared_ptr<const Connection> connection_;
    // In order.
    std::deque<Sent> sent_;
    // Reports that a step passed by on its way to its own.
    std::deque<v1::FrameReport> passed_;
    // The highest id of a frame so far.
    std::uint64_t last_id_ = 0;
    // How often it was gone on with since the last report.
    unsigned resumed_ = 0;
    bool is_draining_ = false;
    // The server has asked to connect anew.
    bool may_move_ = false;
    bool is_closed_ = false;
};

}  // namespace clearance
