//! The methods, and which of them a key may call. One that is not listed may be called by admins
//! alone, who learn that there is none.

/// What a key is for; each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Asks, and reads what is registered and what sessions tell.
    Query,
    /// Registers and deletes, opens sessions and moves their bodies.
    Write,
    /// Sees what the server as a whole does.
    Admin,
}

impl Role {
    /// As files and flags call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// The role of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Query, Self::Write, Self::Admin].into_iter().find(|role| role.name() == name)
    }
}

/// A method of the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcMethod {
    /// As `package.Service/Method`.
    pub name: &'static str,
    /// What a key has to be for; none: no key is needed either.
    pub needs: Option<Role>,
    /// Whether there is more than one request or reply.
    pub streams: bool,
}

const fn call(name: &'static str, role: Role) -> RpcMethod {
    RpcMethod { name, needs: Some(role), streams: false }
}

const fn stream(name: &'static str, role: Role) -> RpcMethod {
    RpcMethod { name, needs: Some(role), streams: true }
}

/// Every method.
pub const METHODS: &[RpcMethod] = &[
    call("clearance.v1.PolytopeService/RegisterPolytopes", Role::Write),
    stream("clearance.v1.PolytopeService/UploadPolytope", Role::Write),
    stream("clearance.v1.PolytopeService/DecomposeMesh", Role::Write),
    call("clearance.v1.PolytopeService/GetPolytope", Role::Query),
    call("clearance.v1.PolytopeService/ListPolytopes", Role::Query),
    call("clearance.v1.PolytopeService/DeletePolytope", Role::Write),
    call("clearance.v1.PolytopeService/FindMissingPolytopes", Role::Query),
    call("clearance.v1.QueryService/CheckCollision", Role::Query),
    call("clearance.v1.QueryService/MeasureDistance", Role::Query),
    call("clearance.v1.QueryService/MeasureDistanceAlong", Role::Query),
    call("clearance.v1.QueryService/MeasurePenetration", Role::Query),
    call("clearance.v1.QueryService/FindFirstContact", Role::Query),
    call("clearance.v1.QueryService/FindFirstCollision", Role::Query),
    call("clearance.v1.QueryService/BatchQuery", Role::Query),
    call("clearance.v1.QueryService/VerifyCertificate", Role::Query),
    call("clearance.v1.RobotService/RegisterRobot", Role::Write),
    stream("clearance.v1.RobotService/UploadRobot", Role::Write),
    call("clearance.v1.RobotService/GetRobot", Role::Query),
    call("clearance.v1.RobotService/ListRobots", Role::Query),
    call("clearance.v1.RobotService/DeleteRobot", Role::Write),
    call("clearance.v1.RobotService/FindMissingRobots", Role::Query),
    call("clearance.v1.RobotService/SuggestAllowedPairs", Role::Query),
    call("clearance.v1.RobotService/CheckConfigurations", Role::Query),
    stream("clearance.v1.RobotService/StreamConfigurations", Role::Query),
    call("clearance.v1.RobotService/CheckEdges", Role::Query),
    stream("clearance.v1.RobotService/StreamEdges", Role::Query),
    call("clearance.v1.RobotService/CheckPath", Role::Query),
    call("clearance.v1.ServerService/GetServerInfo", Role::Query),
    call("clearance.v1.ServerService/GetServerMetrics", Role::Admin),
    call("clearance.v1.SessionService/OpenSession", Role::Write),
    stream("clearance.v1.SessionService/StreamSession", Role::Write),
    call("clearance.v1.SessionService/StepSession", Role::Write),
    call("clearance.v1.SessionService/GetSession", Role::Query),
    stream("clearance.v1.SessionService/WatchSession", Role::Query),
    call("clearance.v1.SessionService/QueryScene", Role::Query),
    call("clearance.v1.SessionService/ListSessions", Role::Query),
    call("clearance.v1.SessionService/CloseSession", Role::Write),
    // Balancers and orchestrators ask without keys, and learn only whether the server drains.
    RpcMethod { name: "grpc.health.v1.Health/Check", needs: None, streams: false },
    RpcMethod { name: "grpc.health.v1.Health/Watch", needs: None, streams: true },
    stream("grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Role::Query),
    stream("grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Role::Query),
];

/// The row of the method at this path (`/service/method`), and its place in [`METHODS`].
pub fn row_of(path: &str) -> Option<(usize, &'static RpcMethod)> {
    let name = path.strip_prefix('/').unwrap_or(path);
    METHODS.iter().enumerate().find(|(_, method)| method.name == name)
}

/// What the method at this path (`/service/method`) needs, or none. Whether there is one that is
/// not listed is told to admins alone.
pub fn needed_role(path: &str) -> Option<Role> {
    row_of(path).map_or(Some(Role::Admin), |(_, method)| method.needs)
}
