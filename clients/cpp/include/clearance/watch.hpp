// What the frames of a session do, for those who look on.
#pragma once

#include <memory>
#include <optional>

#include "clearance/v1/session_service.pb.h"

namespace clearance {

class SessionCore;

// News of a session: its state first, then what every frame changed. One thread takes them; `stop` may come from another.
// It goes on after a restart: then the state comes anew.
class Watch {
public:
    explicit Watch(std::shared_ptr<SessionCore> core);
    Watch(Watch&&) noexcept;
    Watch& operator=(Watch&&) = delete;
    // Stops it.
    ~Watch();

    // The next news; nothing: it was stopped, or the session was closed. Throws `Error`.
    std::optional<v1::WatchSessionResponse> next();
    // Ends it: `next` has nothing more.
    void stop();

private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace clearance
