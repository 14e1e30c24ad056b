// Bodies, registered once and used by their ids, which are the same on every server.
#pragma once

#include <cstdint>
#include <string>

#include "clearance/v1/polytope_service.pb.h"
#include "clearance/v1/session_service.pb.h"

namespace clearance {

// A registered body.
struct Registered {
    // Its id: the digest of what it is.
    std::string id;
    // What the server reports of it.
    v1::RegistrationReport report;

    // It as a body of a question, in a pose.
    v1::PlacedBody placed(v1::Pose pose = {}) const;
    // It as a body of a session that has this number.
    v1::Body body(std::uint32_t number, v1::Pose pose = {}) const;
};

}  // namespace clearance
