#include "mirror.hpp"

#include <algorithm>
#include <set>

#include "clearance/messages.hpp"
#include "rules.hpp"

namespace clearance {

namespace {

template <class Item>
std::optional<std::uint32_t> named(const std::map<std::uint32_t, Item>& items, const std::string& name) {
    for (const auto& [id, item] : items) {
        if (item.name() == name) return id;
    }
    return std::nullopt;
}

// The item that is meant by its name, or where that is empty by its id; null if there is none.
template <class Item>
Item* meant(std::map<std::uint32_t, Item>& items, std::uint32_t id, const std::string& name) {
    const auto own = name.empty() ? std::optional(id) : named(items, name);
    const auto found = own ? items.find(*own) : items.end();
    return found == items.end() ? nullptr : &found->second;
}

// The pose of a place of packed poses.
v1::Pose pose_at(const v1::PackedPoses& packed, int place) {
    const auto xyz = numbers(packed.translations()).subspan(3 * static_cast<std::size_t>(place), 3);
    v1::Pose pose = at(xyz[0], xyz[1], xyz[2]);
    if (packed.rotations_size() >= 4 * (place + 1)) {
        const auto turn = numbers(packed.rotations()).subspan(4 * static_cast<std::size_t>(place)).first<4>();
        return at(xyz[0], xyz[1], xyz[2], turn);
    }
    if (packed.rotation_matrices_size() >= 9 * (place + 1)) {
        const auto rows = numbers(packed.rotation_matrices()).subspan(9 * static_cast<std::size_t>(place), 9);
        put(pose.mutable_rotation_matrix()->mutable_rows(), rows);
    }
    return pose;
}

}  // namespace

Mirror::Mirror(const v1::SessionState& state)
    : rules_(state.rules()),
      release_margin_(state.release_margin()),
      begin_margin_(state.begin_margin()),
      frame_id_(state.frame_id()) {
    for (const v1::Body& body : state.bodies()) bodies_[body.id()] = body;
    for (const v1::SessionRobot& robot : state.robots()) robots_[robot.id()] = robot;
    for (const v1::AnnouncedContact& contact : state.contacts()) {
        contacts_[{contact.pair().a(), contact.pair().b()}] = contact.began_frame_id();
    }
}

v1::SessionState Mirror::state() const {
    v1::SessionState state;
    for (const auto& [id, body] : bodies_) *state.add_bodies() = body;
    for (const auto& [id, robot] : robots_) *state.add_robots() = robot;
    *state.mutable_rules() = rules_;
    state.set_frame_id(frame_id_);
    for (const auto& [pair, began] : contacts_) {
        v1::AnnouncedContact& contact = *state.add_contacts();
        contact.mutable_pair()->set_a(pair.first);
        contact.mutable_pair()->set_b(pair.second);
        contact.set_began_frame_id(began);
    }
    state.set_release_margin(release_margin_);
    state.set_begin_margin(begin_margin_);
    return state;
}

void Mirror::announce(const v1::FrameReport& report) {
    for (const v1::ContactEvent& event : report.events()) {
        const std::pair pair(event.a(), event.b());
        if (event.kind() == v1::CONTACT_EVENT_KIND_BEGAN) contacts_[pair] = report.frame_id();
        if (event.kind() == v1::CONTACT_EVENT_KIND_ENDED) contacts_.erase(pair);
    }
}

Followed Mirror::apply(const v1::Frame& frame) {
    frame_id_ = std::max(frame_id_, frame.frame_id());
    remove(frame);
    for (const v1::Body& body : frame.added_bodies()) bodies_[body.id()] = body;
    for (const v1::SessionRobot& robot : frame.added_robots()) robots_[robot.id()] = robot;
    for (const v1::BodyChange& one : frame.changed_bodies()) change(one);
    if (frame.has_rules()) rules_ = frame.rules();
    if (frame.has_rule_changes()) change_rules(rules_, frame.rule_changes());
    pose(frame);
    bool is_known = true;
    for (const v1::RobotMove& moved : frame.robot_moves()) {
        if (!moved.joints().empty() || !move_robot(moved)) is_known = false;
    }
    const auto carries = [](const v1::SessionRobot& robot) { return !robot.attached().empty(); };
    const bool is_carried = !frame.attached().empty() || !frame.detached_body_ids().empty() ||
                            !frame.detached_body_names().empty() ||
                            std::any_of(frame.added_robots().begin(), frame.added_robots().end(), carries);
    return is_known && !is_carried ? Followed::WHOLLY : Followed::IN_PART;
}

void Mirror::remove(const v1::Frame& frame) {
    // All names are those before the frame.
    std::set<std::uint32_t> robots(frame.removed_robots().begin(), frame.removed_robots().end());
    for (const std::string& name : frame.removed_robot_names()) {
        if (const auto id = named(robots_, name)) robots.insert(*id);
    }
    std::set<std::uint32_t> bodies(frame.removed_body_ids().begin(), frame.removed_body_ids().end());
    for (const std::string& name : frame.removed_body_names()) {
        if (const auto id = named(bodies_, name)) bodies.insert(*id);
    }
    for (const std::uint32_t id : robots) robots_.erase(id);
    if (bodies.empty()) return;
    for (const std::uint32_t id : bodies) bodies_.erase(id);
    std::erase_if(contacts_, [&](const auto& contact) {
        return bodies.contains(contact.first.first) || bodies.contains(contact.first.second);
    });
    forget_bodies(rules_, bodies);
}

void Mirror::change(const v1::BodyChange& change) {
    v1::Body* body = meant(bodies_, change.id(), change.name());
    if (!body) return;
    if (!change.parts().empty()) *body->mutable_parts() = change.parts();
    const auto is_in = [](const auto& list, const std::string& group) {
        return std::find(list.begin(), list.end(), group) != list.end();
    };
    auto& groups = *body->mutable_groups();
    const auto is_left = [&](const std::string& group) { return is_in(change.left_groups(), group); };
    groups.erase(std::remove_if(groups.begin(), groups.end(), is_left), groups.end());
    for (const std::string& group : change.joined_groups()) {
        if (!is_in(groups, group)) *groups.Add() = group;
    }
    if (change.has_fixed()) body->set_fixed(change.fixed());
    if (change.has_margin()) body->set_margin(change.margin());
    if (change.has_continuous()) body->set_continuous(change.continuous());
    if (change.has_category()) body->set_category(change.category());
    if (change.has_mask()) body->set_mask(change.mask());
}

void Mirror::pose(const v1::Frame& frame) {
    for (const v1::BodyPose& moved : frame.poses()) {
        if (v1::Body* body = meant(bodies_, moved.id(), moved.name())) *body->mutable_pose() = moved.pose();
    }
    const v1::PackedPoses& packed = frame.packed_poses();
    for (int place = 0; place < packed.ids_size() && 3 * (place + 1) <= packed.translations_size(); place++) {
        const auto body = bodies_.find(packed.ids(place));
        if (body != bodies_.end()) *body->second.mutable_pose() = pose_at(packed, place);
    }
}

bool Mirror::move_robot(const v1::RobotMove& moved) {
    v1::SessionRobot* robot = meant(robots_, moved.id(), moved.name());
    if (!robot) return false;
    if (!moved.values().empty()) *robot->mutable_values() = moved.values();
    if (moved.has_base()) *robot->mutable_base() = moved.base();
    return true;
}

v1::Frame Mirror::keyframe() const {
    std::set<std::uint32_t> carried;
    v1::Frame frame;
    frame.set_keyframe(true);
    for (const auto& [id, robot] : robots_) {
        for (const auto& attached : robot.attached()) carried.insert(attached.body_id());
        v1::RobotMove& move = *frame.add_robot_moves();
        move.set_id(id);
        *move.mutable_values() = robot.values();
        *move.mutable_base() = robot.base();
    }
    for (const auto& [id, body] : bodies_) {
        if (carried.contains(id)) continue;
        v1::BodyPose& pose = *frame.add_poses();
        pose.set_id(id);
        if (body.has_pose()) *pose.mutable_pose() = body.pose();
    }
    return frame;
}

v1::Frame Mirror::whole(const v1::Frame& frame) const {
    Mirror after = *this;
    after.apply(frame);
    v1::Frame keyframe = after.keyframe();
    const auto& ids = frame.packed_poses().teleported_ids();
    const std::set<std::uint32_t> jumped(ids.begin(), ids.end());
    std::map<std::uint32_t, const v1::BodyPose*> said;
    for (const v1::BodyPose& own : frame.poses()) {
        const auto id = own.name().empty() ? std::optional(own.id()) : named(after.bodies_, own.name());
        if (id) said.emplace(*id, &own);
    }
    for (v1::BodyPose& pose : *keyframe.mutable_poses()) {
        const auto own = said.find(pose.id());
        const bool is_said = own != said.end();
        if (jumped.contains(pose.id()) || (is_said && own->second->teleported())) pose.set_teleported(true);
        if (is_said && own->second->has_deviation()) pose.set_deviation(own->second->deviation());
    }
    for (v1::RobotMove& move : *keyframe.mutable_robot_moves()) {
        for (const v1::RobotMove& own : frame.robot_moves()) {
            const auto id = own.name().empty() ? std::optional(own.id()) : named(after.robots_, own.name());
            if (id != move.id()) continue;
            *move.mutable_joints() = own.joints();
            move.set_teleported(own.teleported());
        }
    }
    v1::Frame whole = frame;
    whole.set_keyframe(true);
    whole.clear_base_frame_id();
    whole.clear_packed_poses();
    whole.mutable_poses()->Swap(keyframe.mutable_poses());
    whole.mutable_robot_moves()->Swap(keyframe.mutable_robot_moves());
    return whole;
}

}  // namespace clearance
