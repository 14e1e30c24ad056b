// All of the client: `#include <clearance/clearance.hpp>`.
#pragma once

#include "clearance/client.hpp"
#include "clearance/credentials.hpp"
#include "clearance/error.hpp"
#include "clearance/messages.hpp"
#include "clearance/registration.hpp"
#include "clearance/retry.hpp"
#include "clearance/session.hpp"
#include "clearance/watch.hpp"
