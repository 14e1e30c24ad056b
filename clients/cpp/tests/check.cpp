#include "check.hpp"

#include <chrono>
#include <iostream>
#include <vector>

namespace testing {

namespace {

struct Named {
    const char* sentence;
    void (*run)();
};

std::vector<Named>& all() {
    static std::vector<Named> tests;
    return tests;
}

// Whether it passes.
bool passes(const Named& test) {
    const auto begin = std::chrono::steady_clock::now();
    std::string why;
    try {
        test.run();
    } catch (const std::exception& error) {
        why = error.what();
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::cout << (why.empty() ? "ok     " : "FAILED ") << test.sentence << " (" << time.count() << " s)\n";
    if (!why.empty()) std::cout << "    " << why << '\n';
    std::cout.flush();
    return why.empty();
}

}  // namespace

Test::Test(const char* sentence, void (*run)()) { all().push_back({sentence, run}); }

void fail(const char* file, int line, const std::string& what) {
    throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

}  // namespace testing

int main(int count, char** arguments) {
    const std::string part = count > 1 ? arguments[1] : "";
    int passed = 0;
    int failed = 0;
    for (const auto& test : testing::all()) {
        if (std::string(test.sentence).find(part) == std::string::npos) continue;
        (testing::passes(test) ? passed : failed)++;
    }
    std::cout << passed << " passed, " << failed << " failed\n";
    return failed > 0 || passed == 0 ? 1 : 0;
}
