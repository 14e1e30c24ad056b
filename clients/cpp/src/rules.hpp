// Which pairs are checked, as frames change it.
#pragma once

#include <cstdint>
#include <set>

#include "clearance/v1/session_service.pb.h"

namespace clearance {

// Changes rules entry by entry: what goes is taken away before what is new is added. In no pair does the order matter.
void change_rules(v1::PairRules& rules, const v1::RuleChanges& changes);

// Takes away the entries that name one of these bodies.
void forget_bodies(v1::PairRules& rules, const std::set<std::uint32_t>& gone);

}  // namespace clearance
