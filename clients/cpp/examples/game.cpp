#include <clearance/clearance.hpp>
#include <array>
#include <cmath>
#include <iostream>
#include <thread>
#include <vector>

int main(int count, char** arguments) {
    using namespace std::chrono;
    if (count < 2) return 2;
    const clearance::Client client(arguments[1]);
    const auto crate = client.register_body(clearance::box(0.5, 0.5, 0.5, 0.02));
    std::vector<std::uint32_t> ids(200);
    std::vector<double> places(600), speeds(200);
    clearance::v1::OpenSessionRequest scene;
    for (std::uint32_t id = 0; id < ids.size(); id++) {
        ids[id] = id;
        places[3 * id] = 1.2 * (id % 20);
        places[3 * id + 1] = 1.2 * (id / 20);
        speeds[id] = std::sin(id);
        *scene.mutable_state()->add_bodies() = crate.body(id, clearance::at(places[3 * id], places[3 * id + 1], 0));
    }
    auto session = client.open(scene);

    const std::array origin{-5.0, 0.0, 0.0}, way{40.0, 0.0, 0.0};
    std::size_t events = 0, struck = 0;
    const auto end = steady_clock::now() + seconds(count > 2 ? std::stoi(arguments[2]) : 1);
    for (auto next = steady_clock::now(); next < end; next += microseconds(16'667)) {
        for (const auto id : ids) places[3 * id] += speeds[id] / 60;
        clearance::v1::Frame frame;
        *frame.mutable_packed_poses() = clearance::packed_poses(ids, places);
        // A server that restarts, or a connection that breaks, costs time and no event.
        const auto report = session.step(std::move(frame));
        for (const auto& event : report.events()) std::swap(speeds[event.a()], speeds[event.b()]);
        events += static_cast<std::size_t>(report.events_size());
        struck += clearance::numbers(session.rays(origin, way).body_ids()).size();
        std::this_thread::sleep_until(next);
    }
    std::cout << "frame " << session.state().frame_id() << ": " << events << " events, " << struck
              << " rays have struck\n";
    session.close();
}
