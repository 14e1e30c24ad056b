// Short ways to write messages, and lists of numbers in them as spans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <google/protobuf/repeated_field.h>

#include "clearance/v1/geometry.pb.h"
#include "clearance/v1/polytope_service.pb.h"
#include "clearance/v1/query_service.pb.h"
#include "clearance/v1/scene_query.pb.h"
#include "clearance/v1/session_service.pb.h"

namespace clearance {

// A list of numbers of a message where it is, without a copy; until the message changes or goes.
template <class Number>
std::span<const Number> numbers(const google::protobuf::RepeatedField<Number>& list) {
    return {list.data(), static_cast<std::size_t>(list.size())};
}

// One byte an item, as packed answers have verdicts, where they are.
inline std::span<const std::uint8_t> numbers(const std::string& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

// Room for so many numbers in a message, to be written in place; until then they are 0, or what was there before.
template <class Number>
std::span<Number> room(google::protobuf::RepeatedField<Number>* list, std::size_t count) {
    list->Resize(static_cast<int>(count), Number{});
    return {list->mutable_data(), count};
}

// Puts numbers into a message, in place of those that it has: one copy of the whole.
template <class Number>
void put(google::protobuf::RepeatedField<Number>* list, std::span<const Number> values) {
    list->Assign(values.begin(), values.end());
}

// A pose without rotation, metres.
v1::Pose at(double x, double y, double z);
// A pose with a rotation w + xi + yj + zk, which need not have norm 1.
v1::Pose at(double x, double y, double z, std::span<const double, 4> rotation);

// The hull of points x, y, z, x, y, z, ..., metres.
v1::PolytopeSpec hull(std::span<const double> xyz);
// A box around the origin by its full sizes, with a ball of this radius around each of its points.
v1::PolytopeSpec box(double x, double y, double z, double radius = 0);
// A ball around the origin.
v1::PolytopeSpec ball(double radius);
// A segment along z of this length with its middle at the origin, with a ball around each of its points.
v1::PolytopeSpec capsule(double length, double radius);

// A body of a question as it is, without registration. Of hulls and of shapes by name; throws `std::invalid_argument`
// for others.
v1::PlacedBody placed(const v1::PolytopeSpec& spec, v1::Pose pose = {});

// New poses of bodies: three numbers each, and four of a rotation w, x, y, z where there are any.
v1::PackedPoses packed_poses(std::span<const std::uint32_t> ids, std::span<const double> translations,
                             std::span<const double> rotations = {});

// Rays: where each starts, and how far and where to; three numbers each.
v1::PackedRays packed_rays(std::span<const double> origins, std::span<const double> displacements);

}  // namespace clearance
