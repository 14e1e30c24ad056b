// What is said to the driver and by it, as JSON and as messages of the interface. tests/situations/README.md has the words.
#pragma once

#include <map>
#include <string>

#include "clearance/clearance.hpp"
#include "driver_json.hpp"

// Names of shapes, with the ids under which they are registered.
using Shapes = std::map<std::string, std::string>;

// The specification of a shape.
clearance::v1::PolytopeSpec spec_of(Command& command);
// A placed body of a question.
clearance::v1::PlacedBody placed_of(const Shapes& shapes, const Json& said);
// The request that an `open` stands for.
clearance::v1::OpenSessionRequest opening_of(const Shapes& shapes, Command& command);
// The frame that a `frame` stands for, without its number.
clearance::v1::Frame frame_of(const Shapes& shapes, Command& command);

// An answer without more.
Json fine();
// An answer about an error.
Json refused(Json error);
// What a client has thrown.
Json error_of(const clearance::Error& error);
// What has no code of gRPC.
Json other_error(const std::string& code, const std::string& words);

// What a report says: of a frame that was refused, why.
Json answer_of(const clearance::v1::FrameReport& report);
Json events_of(const google::protobuf::RepeatedPtrField<clearance::v1::ContactEvent>& events);
Json state_of(const clearance::v1::SessionState& state);
Json verdict_of(clearance::v1::Verdict verdict);
