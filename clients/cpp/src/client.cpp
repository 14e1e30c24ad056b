#include "clearance/client.hpp"

#include <algorithm>

#include "clearance/session.hpp"
#include "known.hpp"

namespace clearance {

namespace {

std::vector<std::string> between_commas(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        if (end > 0) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

}  // namespace

Client::Client(std::string_view addresses, ConnectOptions options)
    : connections_(std::make_shared<Connections>(between_commas(addresses), std::move(options))),
      known_(std::make_shared<Known>()) {}

std::vector<Registered> Client::register_bodies(const std::vector<v1::PolytopeSpec>& specs) const {
    std::vector<Registered> registered;
    registered.reserve(specs.size());
    for (const v1::RegisterPolytopesRequest& request : requests_of(specs)) {
        const auto answer = call(request);
        if (answer.reports_size() != request.polytopes_size()) {
            throw ProtocolError("not every body was registered");
        }
        for (int at = 0; at < answer.reports_size(); at++) {
            known_->add(answer.reports(at).polytope().id(), request.polytopes(at));
            registered.push_back({answer.reports(at).polytope().id(), answer.reports(at)});
        }
    }
    return registered;
}

Registered Client::register_body(const v1::PolytopeSpec& spec) const {
    return register_bodies({spec}).at(0);
}

v1::Robot Client::register_robot(const v1::RegisterRobotRequest& request) const {
    const auto answer = call(request);
    if (!answer.has_robot()) throw ProtocolError("no robot was registered");
    if (!request.validate_only()) known_->add(answer.robot().id(), request);
    return answer.robot();
}

void Client::register_again() const {
    register_bodies(known_->specs());
    for (const v1::RegisterRobotRequest& request : known_->robots()) call(request);
}

Session Client::open(v1::OpenSessionRequest request) const { return Session::open(*this, std::move(request)); }

}  // namespace clearance
