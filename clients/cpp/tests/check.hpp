// Tests: functions with a sentence that is true when they pass.
//
//     TEST("what is registered twice has one id") { CHECK(first.id == second.id); }
//
// A program runs those whose sentence has its first argument in it, or all.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace testing {

// A test that is there.
struct Test {
    Test(const char* sentence, void (*run)());
};

// Why a test failed.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Ends a test that has failed.
[[noreturn]] void fail(const char* file, int line, const std::string& what);

// Both sides of a comparison that does not hold.
template <class One, class Other>
std::string both(const char* words, const One& one, const Other& other) {
    std::ostringstream said;
    said << words << ": " << one << " and " << other;
    return said.str();
}

// What a call throws of this type; it fails if it throws nothing.
template <class Thrown, class Call>
Thrown thrown(const char* file, int line, Call call) {
    try {
        call();
    } catch (const Thrown& error) {
        return error;
    }
    fail(file, line, "nothing was thrown");
}

}  // namespace testing

#define TESTING_JOIN_(a, b) a##b
#define TESTING_JOIN(a, b) TESTING_JOIN_(a, b)
#define TESTING_TEST(name, there, sentence)           \
    static void name();                               \
    static const testing::Test there(sentence, name); \
    static void name()

#define TEST(sentence) TESTING_TEST(TESTING_JOIN(test_, __LINE__), TESTING_JOIN(there_, __LINE__), sentence)

#define CHECK(claim) \
    do { \
        if (!(claim)) testing::fail(__FILE__, __LINE__, #claim); \
    } while (false)

#define CHECK_SAME(one, other) \
    do { \
        const auto& one_ = (one); \
        const auto& other_ = (other); \
        if (!(one_ == other_)) testing::fail(__FILE__, __LINE__, testing::both(#one " == " #other, one_, other_)); \
    } while (false)

#define THROWN(Type, call) testing::thrown<Type>(__FILE__, __LINE__, [&] { call; })
