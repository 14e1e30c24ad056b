#include "rules.hpp"

#include <algorithm>

#include <google/protobuf/repeated_field.h>

namespace clearance {

namespace {

using google::protobuf::RepeatedPtrField;

// Whether two pairs of bodies, or of groups, are the same.
template <class Pair>
bool is_same(const Pair& one, const Pair& other) {
    return (one.a() == other.a() && one.b() == other.b()) || (one.a() == other.b() && one.b() == other.a());
}

template <class Pair>
bool has(const RepeatedPtrField<Pair>& list, const Pair& pair) {
    return std::any_of(list.begin(), list.end(), [&](const Pair& one) { return is_same(one, pair); });
}

template <class Item, class Goes>
void take_away(RepeatedPtrField<Item>& list, Goes goes) {
    list.erase(std::remove_if(list.begin(), list.end(), goes), list.end());
}

template <class Pair>
void replace(RepeatedPtrField<Pair>& list, const RepeatedPtrField<Pair>& gone, const RepeatedPtrField<Pair>& added) {
    take_away(list, [&](const Pair& one) { return has(gone, one); });
    for (const Pair& pair : added) {
        if (!has(list, pair)) *list.Add() = pair;
    }
}

}  // namespace

void change_rules(v1::PairRules& rules, const v1::RuleChanges& changes) {
    replace(*rules.mutable_checked_groups(), changes.removed_checked_groups(), changes.added_checked_groups());
    replace(*rules.mutable_checked_pairs(), changes.removed_checked_pairs(), changes.added_checked_pairs());
    replace(*rules.mutable_ignored_pairs(), changes.removed_ignored_pairs(), changes.added_ignored_pairs());
    take_away(*rules.mutable_margins(), [&](const v1::PairMargin& known) {
        const auto is_set = [&](const v1::PairMargin& set) { return is_same(set.pair(), known.pair()); };
        return has(changes.removed_margins(), known.pair()) ||
               std::any_of(changes.set_margins().begin(), changes.set_margins().end(), is_set);
    });
    rules.mutable_margins()->Add(changes.set_margins().begin(), changes.set_margins().end());
    rules.mutable_groups_to_come()->Add(changes.groups_to_come().begin(), changes.groups_to_come().end());
}

void forget_bodies(v1::PairRules& rules, const std::set<std::uint32_t>& gone) {
    const auto names_one = [&](const v1::BodyPair& pair) { return gone.contains(pair.a()) || gone.contains(pair.b()); };
    take_away(*rules.mutable_checked_pairs(), names_one);
    take_away(*rules.mutable_ignored_pairs(), names_one);
    take_away(*rules.mutable_margins(), [&](const v1::PairMargin& margin) { return names_one(margin.pair()); });
}

}  // namespace clearance
