#include "clearance/messages.hpp"

#include <stdexcept>
#include <utility>

namespace clearance {

v1::Pose at(double x, double y, double z) {
    v1::Pose pose;
    pose.mutable_translation()->set_x(x);
    pose.mutable_translation()->set_y(y);
    pose.mutable_translation()->set_z(z);
    return pose;
}

v1::Pose at(double x, double y, double z, std::span<const double, 4> rotation) {
    v1::Pose pose = at(x, y, z);
    v1::Quaternion& turn = *pose.mutable_rotation();
    turn.set_w(rotation[0]);
    turn.set_x(rotation[1]);
    turn.set_y(rotation[2]);
    turn.set_z(rotation[3]);
    return pose;
}

v1::PolytopeSpec hull(std::span<const double> xyz) {
    v1::PolytopeSpec spec;
    put(spec.mutable_vertices()->mutable_xyz(), xyz);
    return spec;
}

v1::PolytopeSpec box(double x, double y, double z, double radius) {
    v1::PolytopeSpec spec;
    v1::RoundedShape& shape = *spec.mutable_rounded();
    shape.mutable_box()->set_x(x);
    shape.mutable_box()->set_y(y);
    shape.mutable_box()->set_z(z);
    shape.set_radius(radius);
    return spec;
}

v1::PolytopeSpec ball(double radius) {
    v1::PolytopeSpec spec;
    spec.mutable_rounded()->set_radius(radius);
    return spec;
}

v1::PolytopeSpec capsule(double length, double radius) {
    v1::PolytopeSpec spec;
    spec.mutable_rounded()->set_length(length);
    spec.mutable_rounded()->set_radius(radius);
    return spec;
}

v1::PlacedBody placed(const v1::PolytopeSpec& spec, v1::Pose pose) {
    v1::PlacedBody body;
    if (spec.has_vertices()) {
        *body.mutable_vertices() = spec.vertices();
    } else if (spec.has_rounded()) {
        *body.mutable_rounded() = spec.rounded();
    } else {
        throw std::invalid_argument("a body of this kind has to be registered");
    }
    *body.mutable_pose() = std::move(pose);
    return body;
}

v1::PackedPoses packed_poses(std::span<const std::uint32_t> ids, std::span<const double> translations,
                             std::span<const double> rotations) {
    v1::PackedPoses packed;
    put(packed.mutable_ids(), ids);
    put(packed.mutable_translations(), translations);
    put(packed.mutable_rotations(), rotations);
    return packed;
}

v1::PackedRays packed_rays(std::span<const double> origins, std::span<const double> displacements) {
    v1::PackedRays packed;
    put(packed.mutable_origins(), origins);
    put(packed.mutable_displacements(), displacements);
    return packed;
}

}  // namespace clearance
