#include "driver_json.hpp"

#include <algorithm>
#include <stdexcept>

#include <google/protobuf/util/json_util.h>

Json json(const std::string& text) {
    Json value;
    value.set_string_value(text);
    return value;
}

Json json(const char* text) { return json(std::string(text)); }

Json json(bool truth) {
    Json value;
    value.set_bool_value(truth);
    return value;
}

Json json(double number) {
    Json value;
    value.set_number_value(number);
    return value;
}

Json json(std::vector<Json> items) {
    Json value;
    value.mutable_list_value();
    for (Json& item : items) *value.mutable_list_value()->add_values() = std::move(item);
    return value;
}

Json digits(std::uint64_t number) { return json(std::to_string(number)); }

void put(Json& object, const std::string& key, Json value) {
    (*object.mutable_struct_value()->mutable_fields())[key] = std::move(value);
}

Command::Command(const std::string& line) {
    const auto status = google::protobuf::util::JsonStringToMessage(line, &object_);
    if (!status.ok()) throw std::runtime_error("no JSON: " + line);
}

Command::Command(const Json& object) : object_(object.struct_value()) {}

bool Command::has(const std::string& key) {
    asked_.push_back(key);
    return object_.fields().contains(key);
}

const Json& Command::value(const std::string& key) {
    if (!has(key)) throw std::runtime_error("the command lacks " + key);
    return object_.fields().at(key);
}

std::string Command::text(const std::string& key) { return value(key).string_value(); }
std::string Command::text_or(const std::string& key, const std::string& other) { return has(key) ? text(key) : other; }
double Command::number(const std::string& key) { return value(key).number_value(); }
double Command::number_or(const std::string& key, double other) { return has(key) ? number(key) : other; }
bool Command::truth(const std::string& key) { return has(key) && value(key).bool_value(); }

std::uint64_t Command::digits_or(const std::string& key, std::uint64_t other) {
    return has(key) ? std::stoull(text(key)) : other;
}

std::vector<Json> Command::items(const std::string& key) {
    if (!has(key)) return {};
    const auto& values = value(key).list_value().values();
    return {values.begin(), values.end()};
}

void Command::end() const {
    for (const auto& [key, value] : object_.fields()) {
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
            throw std::runtime_error("a key that this driver does not know: " + key);
        }
    }
}

std::vector<double> numbers_of(const Json& list) {
    std::vector<double> numbers;
    for (const Json& item : list.list_value().values()) numbers.push_back(item.number_value());
    return numbers;
}

std::vector<std::string> texts_of(const Json& list) {
    std::vector<std::string> texts;
    for (const Json& item : list.list_value().values()) texts.push_back(item.string_value());
    return texts;
}

std::string line_of(const Json& value) {
    std::string line;
    const auto status = google::protobuf::util::MessageToJsonString(value, &line);
    if (!status.ok()) throw std::runtime_error("an answer that is no JSON");
    return line;
}
