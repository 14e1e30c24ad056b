// A scene of two cubes, of which the second comes and goes: an event with every second frame.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check.hpp"
#include "clearance/clearance.hpp"

namespace testing {

namespace v1 = clearance::v1;

inline clearance::Registered cube(const clearance::Client& client) {
    std::vector<double> xyz;
    for (const int corner : {0, 1, 2, 3, 4, 5, 6, 7}) {
        for (const int axis : {0, 1, 2}) xyz.push_back(corner >> axis & 1);
    }
    return client.register_body(clearance::hull(xyz));
}

inline v1::Frame moving(std::uint32_t id, double x) {
    v1::Frame frame;
    v1::BodyPose& pose = *frame.add_poses();
    pose.set_id(id);
    *pose.mutable_pose() = clearance::at(x, 0, 0);
    return frame;
}

inline clearance::Session open(const clearance::Client& client, const std::string& id, bool is_merging = false) {
    const auto shape = cube(client);
    v1::OpenSessionRequest request;
    request.set_session_id(id);
    *request.mutable_state()->add_bodies() = shape.body(1, clearance::at(0, 0, 0));
    *request.mutable_state()->add_bodies() = shape.body(2, clearance::at(3, 0, 0));
    return clearance::Session::open(client, request, is_merging);
}

// The place of the second cube at a frame, counted from 0.
inline double place(int k) { return k % 4 < 2 ? 0.5 : 3; }

constexpr int FRAMES = 24;

inline std::string told(const v1::FrameReport& report) {
    if (report.has_status()) throw Failure(report.status().message());
    std::string all;
    for (const v1::ContactEvent& event : report.events()) {
        all += v1::ContactEventKind_Name(event.kind()).substr(19) + " " + std::to_string(event.a()) + " " +
               std::to_string(event.b()) + "; ";
    }
    return all;
}

// The events of all frames; something happens before each of them.
inline std::vector<std::string> played(clearance::Session& session, const std::function<void(int)>& meanwhile = {}) {
    std::vector<std::string> all;
    for (int k = 0; k < FRAMES; k++) {
        if (meanwhile) meanwhile(k);
        all.push_back(told(session.step(moving(2, place(k)))));
    }
    return all;
}

// What is told where nothing happens: the pose alternates, and so do the events.
inline std::vector<std::string> expected() {
    std::vector<std::string> all;
    for (int k = 0; k < FRAMES; k++) {
        const bool is_new = k == 0 || place(k) != place(k - 1);
        all.push_back(!is_new ? "" : place(k) < 1 ? "BEGAN 1 2; " : "ENDED 1 2; ");
    }
    return all;
}

}  // namespace testing
