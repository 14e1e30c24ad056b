// Sessions that outlive connections and servers: no event is lost, and none is told twice.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "clearance/clearance.hpp"
#include "proxy.hpp"
#include "scene.hpp"
#include "server.hpp"

namespace {

using clearance::Client;
using clearance::Error;
using testing::moving;
using testing::played;
using testing::Server;
using testing::told;
namespace v1 = clearance::v1;

Server& server() {
    static Server one;
    return one;
}

TEST("a session that nothing happens to tells each event once") {
    auto session = testing::open(Client(server().address()), "undisturbed");
    CHECK(played(session) == testing::expected());
    session.close();
}

TEST("contacts at the opening are told") {
    const Client client(server().address());
    const auto shape = testing::cube(client);
    v1::OpenSessionRequest request;
    *request.mutable_state()->add_bodies() = shape.body(1);
    *request.mutable_state()->add_bodies() = shape.body(2, clearance::at(0.5, 0, 0));
    auto session = client.open(request);
    CHECK_SAME(told(session.opened().report()), "BEGAN 1 2; ");
    CHECK_SAME(session.state().contacts_size(), 1);
    session.close();
}

TEST("a server that is killed and started again is not noticed") {
    Server other;
    auto session = testing::open(Client(other.address()), "killed");
    const auto before = session.incarnation();
    const auto found = played(session, [&](int k) {
        if (k % 7 == 3) other.restart();
    });
    CHECK(found == testing::expected());
    CHECK(session.incarnation() != before);
    session.close();
}

TEST("a server that drains is left for another one") {
    // The stream that is attached is cut off after that.
    Server first({"--drain-seconds-max", "1"});
    const Server second;
    auto session = testing::open(Client(first.address() + "," + second.address()), "drained");
    const auto found = played(session, [&](int k) {
        if (k == 9) first.stop(SIGTERM);
    });
    CHECK(found == testing::expected());
    session.close();
}

TEST("a server that is about to drain is left at its notice") {
    Server first({"--drain-delay-seconds", "30"});
    const Server second;
    auto session = testing::open(Client(first.address() + "," + second.address()), "noticed");
    const auto before = session.incarnation();
    const auto found = played(session, [&](int k) {
        if (k == 5) first.signal(SIGTERM);
        if (k > 5 && session.incarnation() == before) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    CHECK(found == testing::expected());
    CHECK(session.incarnation() != before);
    CHECK(!session.is_draining());
    session.close();
}

TEST("a frame whose answer was lost is told once") {
    testing::Proxy proxy(server().port());
    auto session = testing::open(Client(proxy.address()), "swallowed");
    const auto found = played(session, [&](int k) {
        if (k % 3 == 1) proxy.swallow();
    });
    CHECK(found == testing::expected());
    CHECK(proxy.swallowed() >= 7);
    session.close();
}

TEST("frames under way are answered in their order over a restart, each once") {
    Server other;
    auto session = testing::open(Client(other.address()), "under-way");
    std::vector<std::string> found;
    for (int k = 0; k < testing::FRAMES; k++) {
        session.send(moving(2, testing::place(k)));
        if (k % 4 != 3) continue;
        // What is applied and not told yet is lost with the server, and applied again by the next one.
        if (k % 8 == 7) other.restart();
        while (const auto report = session.receive()) found.push_back(told(*report));
    }
    CHECK(found == testing::expected());
    session.close();
}

TEST("a step leaves the reports of frames before it to be received") {
    auto session = testing::open(Client(server().address()), "left");
    session.send(moving(2, 0.5));
    CHECK_SAME(told(session.step(moving(2, 3))), "ENDED 1 2; ");
    CHECK_SAME(told(*session.receive()), "BEGAN 1 2; ");
    CHECK(!session.receive());
    session.close();
}

// A frame of somebody else, who has the same session.
void disturb(const Client& client, const std::string& id, std::uint64_t frame_id, std::uint64_t base) {
    v1::StepSessionRequest request;
    request.set_session_id(id);
    request.set_take_over(true);
    v1::Frame& frame = *request.add_frames();
    frame = moving(1, 9);
    frame.set_frame_id(frame_id);
    frame.set_base_frame_id(base);
    CHECK(!client.call(request).reports(0).has_status());
}

TEST("a session that another client takes over goes on when it is taken back, with what that one has declared") {
    const Client client(server().address());
    auto session = testing::open(client, "taken");
    session.step(moving(2, 3));
    disturb(Client(server().address()), "taken", 7, 1);
    THROWN(clearance::TakenOver, session.step(moving(2, 0.5)));
    session.take_back();
    CHECK_SAME(session.state().frame_id(), 7u);
    CHECK_SAME(session.state().bodies(0).pose().translation().x(), 9);
    const auto report = session.step(moving(2, 9.5));
    CHECK_SAME(report.frame_id(), 8u);
    CHECK_SAME(told(report), "BEGAN 1 2; ");
    session.close();
}

TEST("frames that build on one of somebody else go on as wholes, one after the other") {
    const Client client(server().address());
    auto session = testing::open(client, "shared");
    session.step(moving(2, 3));
    // The server has frames up to 9 now, and the session thinks that it has none after 1: as after a restart from a copy.
    disturb(client, "shared", 9, 1);
    THROWN(clearance::TakenOver, session.step(moving(2, 3)));
    auto again = clearance::Session::attach(client, "shared");
    CHECK_SAME(again.state().frame_id(), 9u);
    v1::Frame first = moving(1, 5);
    first.set_frame_id(10);
    first.set_base_frame_id(4);
    v1::Frame second = moving(2, 5.5);
    second.set_frame_id(11);
    second.set_base_frame_id(4);
    again.send(first);
    again.send(second);
    CHECK_SAME(told(*again.receive()), "");
    // Where both are where these two frames have put them: the second has not put the first body back.
    CHECK_SAME(told(*again.receive()), "BEGAN 1 2; ");
    again.close();
}

TEST("a frame that is refused is told so, and the next one goes on") {
    auto session = testing::open(Client(server().address()), "refused");
    v1::Frame bad;
    v1::Body& body = *bad.add_added_bodies();
    body.set_id(3);
    const auto report = session.step(bad);
    CHECK(report.has_status() && report.status().reason() == v1::ERROR_REASON_BAD_FIELD);
    CHECK_SAME(session.state().bodies_size(), 2);
    CHECK(played(session) == testing::expected());
    session.close();
}

// A frame of moves, new bodies, changes and rules, of those that are there.
v1::Frame any_frame(std::mt19937& chance, std::vector<std::uint32_t>& there, const clearance::Registered& shape) {
    const auto number = [&] { return std::uniform_real_distribution<double>(0, 5)(chance); };
    const auto happens = [&](double share) { return number() < 5 * share; };
    v1::Frame frame;
    std::uint32_t gone = 0;
    if (happens(0.2) && there.size() > 3) {
        gone = there.back();
        there.pop_back();
        frame.add_removed_body_ids(gone);
    }
    for (const std::uint32_t id : there) {
        if (!happens(0.4)) continue;
        v1::BodyPose& pose = *frame.add_poses();
        pose.set_id(id);
        *pose.mutable_pose() = clearance::at(number(), number(), 0);
    }
    if (happens(0.3)) {
        v1::BodyChange& change = *frame.add_changed_bodies();
        change.set_id(there[0]);
        change.set_margin(number());
        change.add_joined_groups(happens(0.5) ? "g" : "h");
    }
    if (happens(0.2)) {
        v1::BodyPair& pair = *frame.mutable_rule_changes()->add_added_ignored_pairs();
        pair.set_a(there[0]);
        pair.set_b(there.back());
    }
    if (happens(0.3)) {
        const std::uint32_t id = 100 + static_cast<std::uint32_t>(1e5 * number());
        *frame.add_added_bodies() = shape.body(id, clearance::at(number(), number(), 0));
        frame.mutable_added_bodies(0)->set_name("n" + std::to_string(id));
        there.push_back(id);
    }
    return frame;
}

// What was declared, however it is written: a server tells bodies by id and poses as matrices.
std::string declared(const v1::SessionState& state) {
    std::map<std::string, std::string> lines;
    for (const v1::Body& body : state.bodies()) {
        const v1::Vector3& place = body.pose().translation();
        std::ostringstream line;
        line.precision(17);
        line << body.name() << ' ' << place.x() << ' ' << place.y() << ' ' << body.margin();
        std::vector<std::string> groups(body.groups().begin(), body.groups().end());
        std::sort(groups.begin(), groups.end());
        for (const std::string& group : groups) line << ' ' << group;
        lines["body " + std::to_string(body.id())] = line.str();
    }
    for (const v1::BodyPair& pair : state.rules().ignored_pairs()) {
        const auto [low, high] = std::minmax(pair.a(), pair.b());
        lines["ignored " + std::to_string(low) + " " + std::to_string(high)] = "";
    }
    for (const v1::AnnouncedContact& contact : state.contacts()) {
        lines["contact " + std::to_string(contact.pair().a()) + " " + std::to_string(contact.pair().b())] =
            std::to_string(contact.began_frame_id());
    }
    std::string all = "frame " + std::to_string(state.frame_id()) + "\n";
    for (const auto& [name, line] : lines) all.append(name).append(": ").append(line).append("\n");
    return all;
}

TEST("what is followed is what the server has, frame by frame") {
    const Client client(server().address());
    const auto shape = testing::cube(client);
    auto session = testing::open(client, "followed");
    std::mt19937 chance(7);
    std::vector<std::uint32_t> there{1, 2};
    for (int k = 0; k < 80; k++) {
        told(session.step(any_frame(chance, there, shape)));
        v1::GetSessionRequest request;
        request.set_session_id("followed");
        CHECK_SAME(declared(session.state()), declared(client.call(request).state()));
    }
    session.close();
}

TEST("a session that somebody else has opened in its place is not taken") {
    const Client client(server().address());
    auto session = testing::open(client, "replaced");
    v1::OpenSessionRequest request;
    request.set_session_id("replaced");
    request.set_replace(true);
    client.call(request);
    const auto error = THROWN(Error, session.step(moving(2, 1)));
    CHECK(error.reason() == v1::ERROR_REASON_SESSION_REPLACED);
}

TEST("a question after a restart is answered about the scene as the last frame has left it") {
    Server other;
    auto session = testing::open(Client(other.address()), "asked");
    session.step(moving(2, 7));
    other.restart();
    const std::vector<double> origin{20, 0.5, 0.5};
    const std::vector<double> way{-20, 0, 0};
    const auto hits = session.rays(origin, way);
    CHECK_SAME(hits.body_ids(0), 2u);
    CHECK(std::abs(hits.points(0) - 8) < 1e-9);
    CHECK_SAME(told(session.step(moving(2, 0.5))), "BEGAN 1 2; ");
    session.close();
}

TEST("frames that wait are merged where that is asked for, and each event is told") {
    auto session = testing::open(Client(server().address()), "merged", true);
    for (int k = 0; k < 400; k++) session.send(moving(2, 3 + k));
    session.send(moving(2, 0.5));
    std::uint64_t answered = 0;
    std::string events;
    while (const auto report = session.receive()) {
        answered += 1 + report->skipped_frames();
        events += told(*report);
    }
    CHECK_SAME(answered, 401u);
    CHECK_SAME(events, "BEGAN 1 2; ");
    CHECK_SAME(session.state().frame_id(), 401u);
    session.close();
}

TEST("a server that asks to connect anew is connected to anew") {
    const Server other({"--reconnect-seconds", "1"});
    auto session = testing::open(Client(other.address()), "anew");
    const auto found = played(session, [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
    CHECK(found == testing::expected());
    session.close();
}

TEST("a session that is left behind leaves nothing waiting") {
    const Client client(server().address());
    for (int k = 0; k < 20; k++) {
        auto session = testing::open(client, "left-" + std::to_string(k));
        session.send(moving(2, 0.5));
    }
}

}  // namespace
