// What is declared, followed frame by frame.

#include "mirror.hpp"

#include <array>
#include <vector>

#include "check.hpp"
#include "clearance/messages.hpp"
#include "link.hpp"

namespace {

using clearance::Followed;
using clearance::Mirror;
namespace v1 = clearance::v1;

void add(google::protobuf::RepeatedPtrField<v1::Body>* bodies, std::uint32_t id, const char* name) {
    v1::Body& body = *bodies->Add();
    body.set_id(id);
    body.set_name(name);
}

void add(google::protobuf::RepeatedPtrField<v1::BodyPair>* pairs, std::uint32_t a, std::uint32_t b) {
    v1::BodyPair& pair = *pairs->Add();
    pair.set_a(a);
    pair.set_b(b);
}

Mirror three() {
    v1::SessionState state;
    add(state.mutable_bodies(), 1, "wall");
    add(state.mutable_bodies(), 2, "cart");
    add(state.mutable_bodies(), 3, "ball");
    add(state.mutable_rules()->mutable_ignored_pairs(), 1, 3);
    return Mirror(state);
}

v1::FrameReport began(std::uint64_t frame_id, std::uint32_t a, std::uint32_t b) {
    v1::FrameReport report;
    report.set_frame_id(frame_id);
    v1::ContactEvent& event = *report.add_events();
    event.set_kind(v1::CONTACT_EVENT_KIND_BEGAN);
    event.set_a(a);
    event.set_b(b);
    return report;
}

TEST("poses by number, by name and packed are followed") {
    Mirror mirror = three();
    v1::Frame frame;
    frame.set_frame_id(7);
    v1::BodyPose& by_name = *frame.add_poses();
    by_name.set_name("cart");
    *by_name.mutable_pose() = clearance::at(1, 0, 0);
    const std::array<std::uint32_t, 2> ids{1, 3};
    *frame.mutable_packed_poses() =
        clearance::packed_poses(ids, std::vector<double>{1, 0, 0, 4, 5, 6}, std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0});
    CHECK(mirror.apply(frame) == Followed::WHOLLY);
    const v1::SessionState state = mirror.state();
    CHECK_SAME(state.frame_id(), 7u);
    CHECK_SAME(state.bodies(1).pose().translation().x(), 1);
    CHECK_SAME(state.bodies(2).pose().translation().z(), 6);
    CHECK_SAME(state.bodies(2).pose().rotation().x(), 1);
    // Matrices, and lists of other lengths than they should have: the server refuses those.
    const std::vector<double> rows{0, -1, 0, 1, 0, 0, 0, 0, 1};
    *frame.mutable_packed_poses() = clearance::packed_poses(ids, std::vector<double>{1, 0, 0, 4});
    clearance::put<double>(frame.mutable_packed_poses()->mutable_rotation_matrices(), rows);
    mirror.apply(frame);
    CHECK_SAME(mirror.state().bodies(0).pose().rotation_matrix().rows(1), -1);
    CHECK_SAME(mirror.state().bodies(2).pose().translation().z(), 6);
}

TEST("what leaves takes its rules and contacts along") {
    Mirror mirror = three();
    mirror.announce(began(4, 1, 2));
    CHECK_SAME(mirror.state().contacts(0).began_frame_id(), 4u);
    v1::Frame frame;
    frame.add_removed_body_names("wall");
    add(frame.mutable_added_bodies(), 9, "door");
    add(frame.mutable_rule_changes()->mutable_added_checked_pairs(), 9, 2);
    add(frame.mutable_rule_changes()->mutable_removed_ignored_pairs(), 3, 1);
    mirror.apply(frame);
    // The same again changes nothing.
    mirror.apply(frame);
    const v1::SessionState state = mirror.state();
    CHECK_SAME(state.bodies_size(), 3);
    CHECK_SAME(state.bodies(2).id(), 9u);
    CHECK_SAME(state.contacts_size(), 0);
    CHECK_SAME(state.rules().checked_pairs_size(), 1);
    CHECK_SAME(state.rules().ignored_pairs_size(), 0);
}

TEST("margins of pairs are replaced, in either order of the pair") {
    Mirror mirror = three();
    for (const double margin : {0.1, 0.2}) {
        v1::Frame frame;
        v1::PairMargin& set = *frame.mutable_rule_changes()->add_set_margins();
        set.mutable_pair()->set_a(margin < 0.15 ? 1 : 2);
        set.mutable_pair()->set_b(margin < 0.15 ? 2 : 1);
        set.set_margin(margin);
        mirror.apply(frame);
    }
    CHECK_SAME(mirror.state().rules().margins_size(), 1);
    CHECK_SAME(mirror.state().rules().margins(0).margin(), 0.2);
}

TEST("what only the server knows is said to be open") {
    Mirror mirror = three();
    v1::Frame frame;
    v1::RobotMove& moved = *frame.add_robot_moves();
    moved.set_id(5);
    moved.add_joints()->set_name("elbow");
    CHECK(mirror.apply(frame) == Followed::IN_PART);
    v1::Frame detaching;
    detaching.add_detached_body_ids(3);
    CHECK(mirror.apply(detaching) == Followed::IN_PART);
}

TEST("a whole frame says where everything is, and keeps what the frame said beside that") {
    const Mirror mirror = three();
    v1::Frame frame;
    frame.set_frame_id(3);
    frame.set_base_frame_id(1);
    frame.add_removed_body_ids(1);
    const std::array<std::uint32_t, 1> ids{3};
    *frame.mutable_packed_poses() = clearance::packed_poses(ids, std::vector<double>{4, 5, 6});
    frame.mutable_packed_poses()->add_teleported_ids(3);
    v1::BodyPose& cart = *frame.add_poses();
    cart.set_id(2);
    cart.set_deviation(0.5);
    const v1::Frame whole = mirror.whole(frame);
    CHECK(whole.keyframe() && !whole.has_base_frame_id() && !whole.has_packed_poses());
    CHECK_SAME(whole.removed_body_ids_size(), 1);
    CHECK_SAME(whole.poses_size(), 2);
    CHECK(whole.poses(0).id() == 2 && whole.poses(0).deviation() == 0.5 && !whole.poses(0).teleported());
    CHECK(whole.poses(1).id() == 3 && whole.poses(1).teleported() && !whole.poses(1).has_deviation());
    CHECK_SAME(whole.poses(1).pose().translation().y(), 5);
}

TEST("a large scene is opened in several messages") {
    v1::SessionState state;
    const v1::OpenSessionRequest request;
    CHECK_SAME(clearance::opening(request, state, false).size(), 1u);
    for (std::uint32_t id = 0; id < 25'000; id++) state.add_bodies()->set_id(id);
    const auto messages = clearance::opening(request, state, true);
    CHECK_SAME(messages.size(), 3u);
    CHECK(messages[0].state_continues() && messages[1].state_continues() && !messages[2].state_continues());
    CHECK_SAME(messages[0].open().state().bodies_size(), 10'000);
    CHECK_SAME(messages[2].more_state().bodies_size(), 5'000);
    CHECK_SAME(messages[2].more_state().bodies(0).id(), 20'000u);
    CHECK(messages[0].latest_wins());
}

}  // namespace
