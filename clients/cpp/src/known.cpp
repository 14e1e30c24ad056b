#include "known.hpp"

namespace clearance {

namespace {

// Bodies of one message, at most.
constexpr int ITEMS_MAX = 500;

// Bytes of one message, about: a half of what servers take by default.
constexpr std::size_t BYTES_MAX = 2 << 20;

}  // namespace

void Known::add(const std::string& id, const v1::PolytopeSpec& spec) {
    const std::lock_guard lock(mutex_);
    specs_[{id, spec.alias()}] = spec;
}

void Known::add(const std::string& id, const v1::RegisterRobotRequest& request) {
    const std::lock_guard lock(mutex_);
    robots_[id] = request;
}

std::vector<v1::PolytopeSpec> Known::specs() const {
    const std::lock_guard lock(mutex_);
    std::vector<v1::PolytopeSpec> all;
    for (const auto& [name, spec] : specs_) all.push_back(spec);
    return all;
}

std::vector<v1::RegisterRobotRequest> Known::robots() const {
    const std::lock_guard lock(mutex_);
    std::vector<v1::RegisterRobotRequest> all;
    for (const auto& [id, request] : robots_) all.push_back(request);
    return all;
}

std::vector<v1::RegisterPolytopesRequest> requests_of(const std::vector<v1::PolytopeSpec>& specs) {
    std::vector<v1::RegisterPolytopesRequest> requests;
    std::size_t bytes = 0;
    for (const v1::PolytopeSpec& spec : specs) {
        bytes += spec.ByteSizeLong();
        if (requests.empty() || bytes > BYTES_MAX || requests.back().polytopes_size() == ITEMS_MAX) {
            requests.emplace_back();
            bytes = spec.ByteSizeLong();
        }
        *requests.back().add_polytopes() = spec;
    }
    return requests;
}

}  // namespace clearance
