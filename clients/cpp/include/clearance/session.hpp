// A scene of the server's that goes on frame by frame, and outlives connections and servers.
//
// | what has happened                                   | what the session does                                   |
// |-----------------------------------------------------|---------------------------------------------------------|
// | the connection was lost, or the server drains       | attaches a new stream, and sends again what is not answered |
// | the session is forgotten, or the server another one | opens it with the state that it knows                   |
// | the server asks to connect anew                     | likewise, and closes what is left behind                |
// | a frame builds on one that is not there             | sends it again with the pose of every body              |
// | another stream took over                            | throws `TakenOver`; `take_back` goes on                 |
// | another session has its id                          | throws the error of the server; nothing helps           |
//
// Where a session is opened anew, bodies and robots that the server does not have are registered again. A frame that is
// sent again under the same number gets the same report again, so no event is lost or told twice, but where several frames
// were under way and the server applied more of them than it could report: of those the session takes over what the
// server says of announced contacts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "clearance/client.hpp"
#include "clearance/v1/session_service.pb.h"
#include "clearance/watch.hpp"

namespace clearance {

class SessionCore;

// A session. Threads may share it: their calls go one after the other, and one that waits for a report lets the others
// wait. What goes wrong throws `Error`. One that is not closed stays on the server until it has been idle for long.
class Session {
public:
    // Opens one with its scene; with `is_merging`, frames that wait while one is answered are merged into one.
    static Session open(const Client& client, v1::OpenSessionRequest request, bool is_merging = false);
    // Attaches to a session that is open, in the place of the stream that is attached to it.
    static Session attach(const Client& client, const std::string& session_id, const std::string& session_key = {});

    // The id of the session.
    std::string id() const;
    // Which session of this id it is.
    std::uint64_t incarnation() const;
    // What the server said when the session was opened last, with the report on its scene.
    v1::OpenSessionResponse opened() const;
    // What is declared, as far as reports have confirmed it: with it, any server can go on.
    v1::SessionState state() const;
    // Whether the server has said that it is about to stop. The next frame goes to another one.
    bool is_draining() const;

    // Sends a frame and waits for its report. A frame without an id gets the next one. Reports of frames before it that
    // were sent are left for `receive`. After an error the frame is not sent any more; whether it was applied before is
    // not known.
    v1::FrameReport step(v1::Frame frame);
    // Sends a frame, and says which id it has. Its report is to be received; until then the frame is kept.
    std::uint64_t send(v1::Frame frame);
    // The next report; nothing if every frame is answered.
    std::optional<v1::FrameReport> receive();

    // Asks the scene as the last frame has left it.
    v1::QuerySceneResponse query(v1::QuerySceneRequest request);
    // What rays meet; three numbers for where each starts, and three for how far and where to.
    v1::PackedHits rays(std::span<const double> origins, std::span<const double> displacements);
    // What the frames of the session do, from its state on, for another thread.
    Watch watch() const;

    // Goes on with a session that another stream took over, in its place. What that one has declared stands; frames
    // that were not answered are forgotten.
    void take_back();
    // Ends the stream and closes the session.
    void close();

private:
    explicit Session(std::shared_ptr<SessionCore> core) : core_(std::move(core)) {}
    std::shared_ptr<SessionCore> core_;
};

}  // namespace clearance
