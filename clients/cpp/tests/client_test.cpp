// Calls: answers, and words for what is wrong; who calls, and over what.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "check.hpp"
#include "clearance/clearance.hpp"
#include "scene.hpp"
#include "server.hpp"

namespace {

using clearance::Client;
using clearance::Error;
using grpc::StatusCode;
using testing::Server;
namespace v1 = clearance::v1;

const Server& server() {
    static const Server one;
    return one;
}

v1::MeasureDistanceRequest question() {
    v1::MeasureDistanceRequest request;
    *request.mutable_p() = clearance::placed(clearance::box(1, 1, 1));
    *request.mutable_q() = clearance::placed(clearance::ball(0.5), clearance::at(3, 0, 0));
    return request;
}

TEST("questions are answered") {
    const auto answer = Client(server().address()).call(question());
    CHECK(answer.verdict() == v1::VERDICT_SEPARATED);
    CHECK(answer.distance().lower() <= 2 && 2 <= answer.distance().upper());
    // However an address is written.
    for (const std::string& address : {"http://" + server().address() + "/", server().address()}) {
        CHECK(Client(address).call(question()).verdict() == v1::VERDICT_SEPARATED);
    }
}

TEST("errors say which field is wrong, and why") {
    const Client client(server().address());
    auto bad = question();
    clearance::put<double>(bad.mutable_q()->mutable_vertices()->mutable_xyz(), std::vector<double>{1, 2});
    const auto error = THROWN(Error, client.call(bad));
    CHECK(error.code() == StatusCode::INVALID_ARGUMENT && error.reason() == v1::ERROR_REASON_BAD_FIELD);
    CHECK_SAME(error.field(), "q.vertices.xyz");
    CHECK(!error.retry_after() && !error.is_lost());
    auto unknown = question();
    unknown.mutable_p()->set_alias("none");
    const auto lacking = THROWN(Error, client.call(unknown));
    CHECK(lacking.reason() == v1::ERROR_REASON_UNKNOWN_POLYTOPE);
    CHECK_SAME(lacking.info().at("key"), "none");
}

TEST("an incarnation is all of its 64 bits, and another one is another session") {
    const Client client(server().address());
    auto session = testing::open(client, "one");
    v1::GetSessionRequest request;
    request.set_session_id("one");
    request.set_incarnation(session.incarnation());
    CHECK_SAME(client.call(request).summary().incarnation(), session.incarnation());
    request.set_incarnation(session.incarnation() ^ 1);
    const auto error = THROWN(Error, client.call(request));
    CHECK(error.reason() == v1::ERROR_REASON_SESSION_REPLACED);
    session.close();
}

TEST("a call that takes too long ends when its caller says") {
    const Client client(server().address());
    v1::BatchQueryRequest batch;
    for (int k = 0; k < 900; k++) *batch.add_items()->mutable_measure_distance() = question();
    const auto begin = std::chrono::steady_clock::now();
    const auto error = THROWN(Error, for (;;) client.call(batch, {.time_max = std::chrono::milliseconds(1)}));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    CHECK_SAME(static_cast<int>(error.code()), static_cast<int>(StatusCode::DEADLINE_EXCEEDED));
}

TEST("a server that is not there is looked for, and then given up") {
    const std::string nowhere = "127.0.0.1:" + std::to_string(testing::free_port());
    clearance::ConnectOptions options;
    options.retry = {.attempts_max = 3, .pause_first = std::chrono::milliseconds(20), .pause_max = std::chrono::seconds(1)};
    const auto begin = std::chrono::steady_clock::now();
    CHECK(THROWN(Error, Client(nowhere, options).call(question())).is_lost());
    CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(40));
    CHECK(Client(nowhere + "," + server().address(), options).call(question()).has_distance());
}

TEST("one channel lives through restarts of its server") {
    Server other;
    const Client client(other.address());
    for (int round = 0; round < 3; round++) {
        client.call(question());
        other.restart();
    }
    CHECK(client.call(question()).has_distance());
}

TEST("what is registered has the same id everywhere, and is registered again") {
    Server other;
    const Client client(other.address());
    const auto first = testing::cube(client);
    CHECK_SAME(first.id, testing::cube(Client(server().address())).id);
    CHECK(first.id.starts_with("p1-"));
    CHECK_SAME(first.report.polytope().vertex_count(), 8u);
    other.restart();
    v1::FindMissingPolytopesRequest request;
    request.add_ids(first.id);
    CHECK_SAME(client.call(request).missing_ids_size(), 1);
    client.register_again();
    CHECK_SAME(client.call(request).missing_ids_size(), 0);
}

TEST("many bodies go in several messages, in their order") {
    std::vector<v1::PolytopeSpec> specs;
    for (int size = 1; size <= 1'200; size++) specs.push_back(clearance::box(size, 1, 1));
    const auto registered = Client(server().address()).register_bodies(specs);
    CHECK_SAME(registered.size(), 1'200u);
    CHECK_SAME(registered[1'100].report.polytope().bounds_high().x(), 1'101 / 2.0);
}

TEST("packed answers are read where they are") {
    const Client client(server().address());
    auto session = testing::open(client, "rays");
    const std::vector<double> origins{-1, 0.5, 0.5, -1, 9, 9};
    const std::vector<double> ways{10, 0, 0, 10, 0, 0};
    const v1::PackedHits hits = session.rays(origins, ways);
    const auto bodies = clearance::numbers(hits.body_ids());
    CHECK_SAME(bodies.size(), 1u);
    CHECK_SAME(bodies[0], 1u);
    CHECK(bodies.data() == hits.body_ids().data());
    CHECK_SAME(clearance::numbers(hits.points())[0], 0);
    CHECK_SAME(static_cast<int>(clearance::numbers(hits.verdicts())[0]), static_cast<int>(v1::VERDICT_SEPARATED));
    session.close();
}

TEST("answers come as a stream, which may be given up") {
    const Client client(server().address());
    auto session = testing::open(client, "streamed");
    v1::WatchSessionRequest request;
    request.set_session_id("streamed");
    auto news = client.stream(request);
    CHECK(news.next()->has_state());
    news.cancel();
    CHECK(THROWN(Error, while (news.next()) {}).code() == StatusCode::CANCELLED);
    request.set_session_id("another");
    auto none = client.stream(request);
    CHECK(THROWN(Error, none.next()).reason() == v1::ERROR_REASON_UNKNOWN_SESSION);
    session.close();
}

// A folder for the length of a test.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "clearance-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
};

TEST("within TLS, with a key: others are not answered") {
    if (std::system("openssl version >/dev/null 2>&1") != 0) return;
    const Folder folder;
    const auto file = [&](const char* name) { return (folder.path / name).string(); };
    const std::string make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=clearance "
                             "-addext subjectAltName=IP:127.0.0.1 -keyout " +
                             file("key.pem") + " -out " + file("cert.pem") + " 2>/dev/null";
    CHECK(std::system(make.c_str()) == 0);
    testing::Program writer({std::getenv("CLEARANCE_SERVER"), "key", "--name", "game", "--tenant", "acme", "--role", "write"});
    std::string key;
    std::string line;
    CHECK(writer.line(key));
    std::ofstream keys(file("keys"));
    while (writer.line(line)) keys << line << '\n';
    keys.close();
    const Server secure({"--tls-cert", file("cert.pem"), "--tls-key", file("key.pem"), "--api-keys", file("keys")});
    clearance::ConnectOptions options;
    options.retry.attempts_max = 2;
    options.tls = clearance::Tls::trusting(file("cert.pem"));
    const std::string address = "https://" + secure.address();
    CHECK(THROWN(Error, Client(address, options).call(question())).reason() == v1::ERROR_REASON_UNAUTHENTICATED);
    options.key = key;
    CHECK(Client(address, options).call(question()).has_distance());
    auto session = testing::open(Client(address, options), "secure");
    CHECK(testing::played(session) == testing::expected());
    session.close();
    // Somebody whose authority is not known is not told the key.
    options.tls = std::nullopt;
    CHECK(THROWN(Error, Client(address, options).call(question())).is_lost());
    CHECK(THROWN(Error, Client(secure.address(), options).call(question())).is_lost());
}

}  // namespace
