#include "clearance/registration.hpp"

#include <utility>

namespace clearance {

v1::PlacedBody Registered::placed(v1::Pose pose) const {
    v1::PlacedBody placed;
    placed.set_id(id);
    *placed.mutable_pose() = std::move(pose);
    return placed;
}

v1::Body Registered::body(std::uint32_t number, v1::Pose pose) const {
    v1::Body body;
    body.set_id(number);
    body.add_parts()->set_id(id);
    *body.mutable_pose() = std::move(pose);
    return body;
}

}  // namespace clearance
