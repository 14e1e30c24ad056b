#include "clearance/session.hpp"

#include <mutex>
#include <utility>

#include "clearance/messages.hpp"
#include "session_core.hpp"

namespace clearance {

Session Session::open(const Client& client, v1::OpenSessionRequest request, bool is_merging) {
    auto core = std::make_shared<SessionCore>(client, std::move(request), is_merging);
    core->open();
    return Session(std::move(core));
}

Session Session::attach(const Client& client, const std::string& session_id, const std::string& session_key) {
    v1::OpenSessionRequest request;
    request.set_session_id(session_id);
    request.set_session_key(session_key);
    auto core = std::make_shared<SessionCore>(client, std::move(request), false);
    core->take_back();
    return Session(std::move(core));
}

std::string Session::id() const {
    const std::lock_guard lock(core_->mutex);
    return core_->opened().session_id();
}

std::uint64_t Session::incarnation() const {
    const std::lock_guard lock(core_->mutex);
    return core_->opened().incarnation();
}

v1::OpenSessionResponse Session::opened() const {
    const std::lock_guard lock(core_->mutex);
    return core_->opened();
}

v1::SessionState Session::state() const {
    const std::lock_guard lock(core_->mutex);
    return core_->state();
}

bool Session::is_draining() const {
    const std::lock_guard lock(core_->mutex);
    return core_->is_draining();
}

v1::FrameReport Session::step(v1::Frame frame) {
    const std::lock_guard lock(core_->mutex);
    return core_->step(std::move(frame));
}

std::uint64_t Session::send(v1::Frame frame) {
    const std::lock_guard lock(core_->mutex);
    return core_->send(std::move(frame));
}

std::optional<v1::FrameReport> Session::receive() {
    const std::lock_guard lock(core_->mutex);
    return core_->receive();
}

v1::QuerySceneResponse Session::query(v1::QuerySceneRequest request) {
    const std::lock_guard lock(core_->mutex);
    return core_->query(std::move(request));
}

v1::PackedHits Session::rays(std::span<const double> origins, std::span<const double> displacements) {
    v1::QuerySceneRequest request;
    *request.mutable_packed_rays() = packed_rays(origins, displacements);
    return std::move(*query(std::move(request)).mutable_packed_hits());
}

Watch Session::watch() const { return Watch(core_); }

void Session::take_back() {
    const std::lock_guard lock(core_->mutex);
    core_->take_back();
}

void Session::close() {
    const std::lock_guard lock(core_->mutex);
    core_->close();
}

}  // namespace clearance
