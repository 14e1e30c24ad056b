// The stream that a session is attached to: both directions at once, so that no side waits for the other to read.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "clearance/connection.hpp"
#include "clearance/v1/session_service.grpc.pb.h"

namespace clearance {

// A stream in both directions. One thread at a time has it; gRPC's threads read and write meanwhile.
class Link {
public:
    // Begins a stream with these messages.
    Link(const Connections& connections, std::shared_ptr<const Connection> connection, const std::string& session_id,
         std::vector<v1::StreamSessionRequest> first);
    // Cancels the stream, unless it has ended.
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // Sends a message; nothing is sent on a stream that has ended. Why it has, `next` says.
    void send(v1::StreamSessionRequest message);
    // The next message of the server; nothing: the stream has ended. Throws `Error` if it ended so.
    std::optional<v1::StreamSessionResponse> next();
    // Says that nothing more is sent, and waits until the server has answered all that was sent.
    void end();

private:
    class Reactor;
    std::shared_ptr<const Connection> connection_;
    grpc::ClientContext context_;
    std::unique_ptr<Reactor> reactor_;
};

// The messages that open a session, the state in several if it has many bodies.
std::vector<v1::StreamSessionRequest> opening(const v1::OpenSessionRequest& request, v1::SessionState state,
                                              bool is_merging);

// The message that attaches a stream to a session that is open, in the place of one that is attached: that may be one
// that was lost.
v1::StreamSessionRequest attaching(const std::string& session_id, const std::string& session_key,
                                   std::uint64_t incarnation, bool is_merging);

}  // namespace clearance
