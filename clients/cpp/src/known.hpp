// What a client has registered, to register it again where a server has forgotten it, or has never known it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "clearance/v1/polytope_service.pb.h"
#include "clearance/v1/robot_service.pb.h"

namespace clearance {

// Bodies and robots. Threads may share it.
class Known {
public:
    void add(const std::string& id, const v1::PolytopeSpec& spec);
    void add(const std::string& id, const v1::RegisterRobotRequest& request);

    std::vector<v1::PolytopeSpec> specs() const;
    std::vector<v1::RegisterRobotRequest> robots() const;

private:
    mutable std::mutex mutex_;
    // By id and alias.
    std::map<std::pair<std::string, std::string>, v1::PolytopeSpec> specs_;
    std::map<std::string, v1::RegisterRobotRequest> robots_;
};

// Specifications in the order given, as many at once as one message takes.
std::vector<v1::RegisterPolytopesRequest> requests_of(const std::vector<v1::PolytopeSpec>& specs);

}  // namespace clearance
