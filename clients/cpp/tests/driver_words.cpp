#include "driver_words.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <google/protobuf/descriptor.h>

namespace v1 = clearance::v1;

namespace {

std::uint32_t id_of(const Json& number) { return static_cast<std::uint32_t>(number.number_value()); }

v1::Pose pose_of(std::vector<double> numbers, std::size_t begin = 0) {
    numbers.resize(begin + 3);
    return clearance::at(numbers[begin], numbers[begin + 1], numbers[begin + 2]);
}

template <class Pair>
void pair_of(Pair* pair, const Json& said) {
    const auto& both = said.list_value().values();
    pair->set_a(id_of(both[0]));
    pair->set_b(id_of(both[1]));
}

v1::Body body_of(const Shapes& shapes, const Json& said) {
    Command command(said);
    v1::Body body;
    body.set_id(id_of(command.value("id")));
    const auto shape = shapes.find(command.text("shape"));
    body.add_parts()->set_id(shape == shapes.end() ? "" : shape->second);
    *body.mutable_pose() = pose_of(numbers_of(command.value("at")));
    body.set_fixed(command.truth("fixed"));
    body.set_margin(command.number_or("margin", 0));
    body.set_name(command.text_or("name", ""));
    if (command.has("groups")) {
        for (const std::string& group : texts_of(command.value("groups"))) body.add_groups(group);
    }
    command.end();
    return body;
}

// The name of a number of an enumeration, without what all of its names begin with, in small letters.
std::string small(const std::string& name, const std::string& prefix, int number) {
    if (name.empty()) return std::to_string(number);
    std::string word = name.substr(prefix.size());
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    return word;
}

std::string code_name(int code) {
    const grpc::Status status(static_cast<grpc::StatusCode>(code), "");
    const std::string said = clearance::Error(status).what();
    return said.substr(0, said.find(':'));
}

Json item_of(const v1::ItemStatus& status) {
    const std::string reason = v1::ErrorReason_Name(status.reason());
    Json item;
    put(item, "code", json(code_name(status.code())));
    put(item, "reason", json(reason.substr(std::min<std::size_t>(reason.size(), 13))));
    put(item, "field", json(status.field()));
    return item;
}

Json counts(std::initializer_list<std::uint64_t> numbers) {
    std::vector<Json> items;
    for (const std::uint64_t number : numbers) items.push_back(json(static_cast<double>(number)));
    return json(std::move(items));
}

Json pair_json(std::uint32_t a, std::uint32_t b, Json last) {
    return json({json(static_cast<double>(a)), json(static_cast<double>(b)), std::move(last)});
}

}  // namespace

v1::PolytopeSpec spec_of(Command& command) {
    v1::PolytopeSpec spec;
    for (const Json& point : command.items("points")) {
        for (const double number : numbers_of(point)) spec.mutable_vertices()->add_xyz(number);
    }
    return spec;
}

v1::PlacedBody placed_of(const Shapes& shapes, const Json& said) {
    Command command(said);
    const auto shape = shapes.find(command.text("shape"));
    v1::PlacedBody placed;
    placed.set_id(shape == shapes.end() ? "" : shape->second);
    if (command.has("at")) *placed.mutable_pose() = pose_of(numbers_of(command.value("at")));
    command.end();
    return placed;
}

v1::OpenSessionRequest opening_of(const Shapes& shapes, Command& command) {
    v1::OpenSessionRequest request;
    v1::SessionState& state = *request.mutable_state();
    for (const Json& body : command.items("bodies")) *state.add_bodies() = body_of(shapes, body);
    for (const Json& contact : command.items("contacts")) {
        v1::AnnouncedContact& announced = *state.add_contacts();
        pair_of(announced.mutable_pair(), contact);
        announced.set_began_frame_id(std::stoull(contact.list_value().values(2).string_value()));
    }
    for (const Json& pair : command.items("ignored")) pair_of(state.mutable_rules()->add_ignored_pairs(), pair);
    for (const Json& groups : command.items("checked_groups")) {
        v1::GroupPair& pair = *state.mutable_rules()->add_checked_groups();
        pair.set_a(groups.list_value().values(0).string_value());
        pair.set_b(groups.list_value().values(1).string_value());
    }
    state.set_frame_id(command.digits_or("frame_id", 0));
    state.set_release_margin(command.number_or("release_margin", 0));
    request.set_session_id(command.text_or("session_id", ""));
    request.set_session_key(command.text_or("session_key", ""));
    request.set_replace(command.truth("replace"));
    std::string pairs = command.text_or("pairs", "changed");
    std::transform(pairs.begin(), pairs.end(), pairs.begin(), [](unsigned char c) { return std::toupper(c); });
    v1::PairSelection selection = v1::PAIR_SELECTION_CHANGED;
    v1::PairSelection_Parse("PAIR_SELECTION_" + pairs, &selection);
    v1::ReportOptions& report = *request.mutable_report();
    report.set_pairs(selection);
    report.set_distances(command.truth("distances"));
    report.set_first_contacts(command.truth("first_contacts"));
    report.set_reply_bytes_max(static_cast<std::uint64_t>(command.number_or("report_bytes", 0)));
    if (command.has("idle_seconds")) {
        request.mutable_idle_timeout()->set_seconds(static_cast<std::int64_t>(command.number("idle_seconds")));
    }
    return request;
}

v1::Frame frame_of(const Shapes& shapes, Command& command) {
    v1::Frame frame;
    std::set<std::uint32_t> jumped;
    for (const Json& id : command.items("teleported")) jumped.insert(id_of(id));
    for (const Json& moved : command.items("poses")) {
        v1::BodyPose& pose = *frame.add_poses();
        pose.set_id(id_of(moved.list_value().values(0)));
        *pose.mutable_pose() = pose_of(numbers_of(moved), 1);
        pose.set_teleported(jumped.contains(pose.id()));
    }
    for (const Json& body : command.items("added")) *frame.add_added_bodies() = body_of(shapes, body);
    for (const Json& id : command.items("removed")) frame.add_removed_body_ids(id_of(id));
    for (const Json& margin : command.items("margins")) {
        v1::BodyChange& change = *frame.add_changed_bodies();
        change.set_id(id_of(margin.list_value().values(0)));
        change.set_margin(margin.list_value().values(1).number_value());
    }
    for (const Json& pair : command.items("ignored")) {
        pair_of(frame.mutable_rule_changes()->add_added_ignored_pairs(), pair);
    }
    return frame;
}

Json fine() {
    Json answer;
    put(answer, "ok", json(true));
    return answer;
}

Json refused(Json error) {
    Json answer;
    put(answer, "ok", json(false));
    put(answer, "error", std::move(error));
    return answer;
}

Json error_of(const clearance::Error& error) {
    Json said;
    put(said, "code", json(code_name(static_cast<int>(error.code()))));
    put(said, "reason", json(error.reason_name()));
    put(said, "field", json(error.field()));
    Json info;
    info.mutable_struct_value();
    for (const auto& [key, value] : error.info()) put(info, key, json(value));
    put(said, "info", std::move(info));
    put(said, "words", json(error.what()));
    return said;
}

Json other_error(const std::string& code, const std::string& words) {
    Json said;
    put(said, "code", json(code));
    put(said, "reason", json(""));
    put(said, "field", json(""));
    put(said, "words", json(words));
    Json info;
    info.mutable_struct_value();
    put(said, "info", std::move(info));
    return said;
}

Json answer_of(const v1::FrameReport& report) {
    if (report.has_status()) {
        Json item = item_of(report.status());
        Json info;
        info.mutable_struct_value();
        put(item, "info", std::move(info));
        return refused(std::move(item));
    }
    Json answer = fine();
    put(answer, "frame_id", digits(report.frame_id()));
    put(answer, "events", events_of(report.events()));
    std::vector<Json> pairs;
    for (const v1::PairReport& pair : report.pairs()) pairs.push_back(pair_json(pair.a(), pair.b(), verdict_of(pair.verdict())));
    put(answer, "pairs", json(std::move(pairs)));
    const v1::VerdictCounts& how = report.counts();
    put(answer, "counts", counts({how.separated(), how.touching(), how.overlapping(), how.undecided()}));
    std::vector<Json> items;
    for (const v1::ItemStatus& item : report.refused_items()) items.push_back(item_of(item));
    put(answer, "refused", json(std::move(items)));
    put(answer, "cut", json(report.cut()));
    put(answer, "omitted", counts({report.omitted_pairs(), report.omitted_events(), report.omitted_items()}));
    return answer;
}

Json events_of(const google::protobuf::RepeatedPtrField<v1::ContactEvent>& events) {
    std::vector<Json> items;
    for (const v1::ContactEvent& event : events) {
        const bool is_known = v1::ContactEventKind_IsValid(event.kind()) && event.kind() != 0;
        const std::string name = is_known ? v1::ContactEventKind_Name(event.kind()) : "";
        const std::string kind = small(name, "CONTACT_EVENT_KIND_", event.kind());
        items.push_back(json({json(kind), json(static_cast<double>(event.a())), json(static_cast<double>(event.b()))}));
    }
    return json(std::move(items));
}

Json state_of(const v1::SessionState& state) {
    std::map<std::uint32_t, Json> bodies;
    for (const v1::Body& body : state.bodies()) {
        const v1::Vector3& at = body.pose().translation();
        bodies[body.id()] = json({json(static_cast<double>(body.id())), json(at.x()), json(at.y()), json(at.z())});
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, Json> contacts;
    for (const v1::AnnouncedContact& contact : state.contacts()) {
        const v1::BodyPair& pair = contact.pair();
        contacts[{pair.a(), pair.b()}] = pair_json(pair.a(), pair.b(), digits(contact.began_frame_id()));
    }
    const auto list = [](auto& items) {
        std::vector<Json> all;
        for (auto& [key, item] : items) all.push_back(std::move(item));
        return json(std::move(all));
    };
    Json answer = fine();
    put(answer, "frame_id", digits(state.frame_id()));
    put(answer, "bodies", list(bodies));
    put(answer, "contacts", list(contacts));
    return answer;
}

Json verdict_of(v1::Verdict verdict) {
    return json(small(v1::Verdict_Name(verdict), "VERDICT_", static_cast<int>(verdict)));
}
