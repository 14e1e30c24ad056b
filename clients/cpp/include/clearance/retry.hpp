// When a call that failed is made again.
//
// | status                                                | made again                           |
// |-------------------------------------------------------|--------------------------------------|
// | RESOURCE_EXHAUSTED with RetryInfo: the server is full | after as long as it says             |
// | UNAVAILABLE, or a connection that broke               | at the next address, or a new connection |
// | everything else: it will not help                     | never                                |
//
// Every call of one message may be repeated: bodies and robots are named by what they are, and frames by their numbers.
#pragma once

#include <chrono>
#include <optional>

#include "clearance/error.hpp"

namespace clearance {

// How often, and how long after one another, a call is made. Usually six attempts within about three seconds.
struct RetryPolicy {
    // Attempts in all; with 1, nothing is tried again.
    unsigned attempts_max = 6;
    // The pause after the first attempt; each that follows is twice as long.
    std::chrono::milliseconds pause_first{100};
    // The longest pause, unless the server asks for a longer one.
    std::chrono::milliseconds pause_max{5000};

    // The pause before the attempt after this one, counted from 1; nothing: it helps nothing, or was the last.
    std::optional<std::chrono::milliseconds> pause_after(unsigned attempt, const Error& error) const;
};

}  // namespace clearance
