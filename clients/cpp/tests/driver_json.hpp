// JSON of the driver: what protobuf reads and writes of any JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <google/protobuf/struct.pb.h>

using Json = google::protobuf::Value;

Json json(const std::string& text);
Json json(const char* text);
Json json(bool truth);
Json json(double number);
Json json(std::vector<Json> items);
// Whole numbers of 64 bits are texts.
Json digits(std::uint64_t number);

// Puts an entry into an object.
void put(Json& object, const std::string& key, Json value);

// A command: an object of which every key has to be asked for.
class Command {
public:
    explicit Command(const std::string& line);
    explicit Command(const Json& object);

    bool has(const std::string& key);
    std::string text(const std::string& key);
    std::string text_or(const std::string& key, const std::string& other);
    double number(const std::string& key);
    double number_or(const std::string& key, double other);
    bool truth(const std::string& key);
    std::uint64_t digits_or(const std::string& key, std::uint64_t other);
    // The items of a list; none where it is missing.
    std::vector<Json> items(const std::string& key);
    const Json& value(const std::string& key);

    // Fails if there is a key that nobody has asked for.
    void end() const;

private:
    google::protobuf::Struct object_;
    std::vector<std::string> asked_;
};

// The numbers of a list.
std::vector<double> numbers_of(const Json& list);
// The texts of a list.
std::vector<std::string> texts_of(const Json& list);

// A line.
std::string line_of(const Json& value);
