// What a session has declared, as the client knows it: followed frame by frame, so that the session can be restated on a
// server that does not have it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "clearance/v1/session_service.pb.h"

namespace clearance {

// Whether everything that a frame changed is known.
enum class Followed {
    // It is.
    WHOLLY,
    // It depends on what only the server knows: the order of joints, or where the link of a robot is. Then the server's
    // state is to be asked for.
    IN_PART,
};

// The declared state of a session.
class Mirror {
public:
    Mirror() = default;
    // A state as it was declared, or as a server tells it.
    explicit Mirror(const v1::SessionState& state);

    // What another server goes on with.
    v1::SessionState state() const;
    // The last frame that was applied.
    std::uint64_t frame_id() const { return frame_id_; }

    // Takes in what reports say of contacts.
    void announce(const v1::FrameReport& report);
    // Takes in a frame that was applied.
    Followed apply(const v1::Frame& frame);
    // A frame with all that it changes, as one that says where everything is, and so builds on none. What robots carry
    // goes with them.
    v1::Frame whole(const v1::Frame& frame) const;

private:
    using Bodies = std::map<std::uint32_t, v1::Body>;
    using Robots = std::map<std::uint32_t, v1::SessionRobot>;

    void remove(const v1::Frame& frame);
    void change(const v1::BodyChange& change);
    void pose(const v1::Frame& frame);
    bool move_robot(const v1::RobotMove& moved);
    // Poses and joint values of everything that stands by itself.
    v1::Frame keyframe() const;

    Bodies bodies_;
    Robots robots_;
    v1::PairRules rules_;
    // Announced contacts, with the frame whose report announced them.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> contacts_;
    double release_margin_ = 0;
    double begin_margin_ = 0;
    std::uint64_t frame_id_ = 0;
};

}  // namespace clearance
