#include "clearance/retry.hpp"

#include <algorithm>

namespace clearance {

std::optional<std::chrono::milliseconds> RetryPolicy::pause_after(unsigned attempt, const Error& error) const {
    if (attempt >= attempts_max) return std::nullopt;
    const auto pause = std::min(pause_first * (1 << std::min(attempt - 1, 16u)), pause_max);
    // The first change of servers costs no time.
    if (error.is_lost()) return attempt == 1 ? std::chrono::milliseconds{0} : pause;
    const bool is_full = error.code() == grpc::StatusCode::RESOURCE_EXHAUSTED && error.retry_after();
    return is_full ? std::optional(std::max(pause, *error.retry_after())) : std::nullopt;
}

}  // namespace clearance
