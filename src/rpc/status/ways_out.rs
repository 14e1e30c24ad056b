//! What to do where one message is too long: by method, since each has its own way.

/// The methods, by service and name, and the way out of each; in the order of the interface.
const WAYS: &[(&str, &str)] = &[
    (
        "PolytopeService/RegisterPolytopes",
        "send fewer polytopes at once, and large ones by UploadPolytope",
    ),
    ("PolytopeService/UploadPolytope", "send the polytope in more parts"),
    ("PolytopeService/GetPolytope", NAMES),
    ("PolytopeService/ListPolytopes", NAMES),
    ("PolytopeService/DeletePolytope", NAMES),
    ("PolytopeService/FindMissingPolytopes", "ask about fewer ids at once"),
    ("QueryService/CheckCollision", REGISTER),
    ("QueryService/MeasureDistance", REGISTER),
    ("QueryService/MeasureDistanceAlong", REGISTER),
    ("QueryService/MeasurePenetration", REGISTER),
    ("QueryService/FindFirstContact", REGISTER),
    ("QueryService/FindFirstCollision", REGISTER),
    (
        "QueryService/BatchQuery",
        "send fewer questions at once, or register the bodies, large ones by UploadPolytope, and \
         name them by their ids",
    ),
    (
        "QueryService/VerifyCertificate",
        "ask for the certificates of fewer edges or bodies at once, or let the server take longer \
         messages",
    ),
    (
        "RobotService/RegisterRobot",
        "register its meshes by RegisterPolytopes or UploadPolytope, and name them by RobotMesh.id",
    ),
    ("RobotService/GetRobot", NAMES),
    ("RobotService/ListRobots", NAMES),
    ("RobotService/DeleteRobot", NAMES),
    (
        "RobotService/CheckConfigurations",
        "send the cell once and the values in many messages, by StreamConfigurations",
    ),
    ("RobotService/StreamConfigurations", "send the values in more messages"),
    ("RobotService/CheckEdges", "send fewer edges at once"),
    ("RobotService/CheckPath", "send the path in more pieces"),
    ("ServerService/GetServerInfo", NAMES),
    ("ServerService/GetServerMetrics", NAMES),
    (
        "SessionService/OpenSession",
        "open the session with some of the bodies, add the others in frames, and register large \
         polytopes",
    ),
    ("SessionService/StreamSession", "send some of the bodies in the next frame"),
    (
        "SessionService/StepSession",
        "send fewer frames at once, or some of the bodies in a later one",
    ),
    ("SessionService/GetSession", NAMES),
    ("SessionService/WatchSession", NAMES),
    ("SessionService/QueryScene", "send fewer questions at once, and rays and casts packed"),
    ("SessionService/ListSessions", "bring fewer session_keys at once"),
    ("SessionService/CloseSession", NAMES),
];

/// Of methods that take little more than names.
const NAMES: &str = "what this method needs takes no more than some kilobytes";

/// Of questions that bring their bodies.
const REGISTER: &str =
    "register the bodies, large ones by UploadPolytope, and name them by their ids";

/// The way out for a method, which is named by the path of its URI; those of other packages take
/// little.
pub(super) fn way_out(path: &str) -> &'static str {
    let name = path.strip_prefix("/clearance.v1.").unwrap_or_default();
    WAYS.iter().find(|(method, _)| *method == name).map_or(NAMES, |(_, way)| way)
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;
    use clearance_proto as api;

    /// A limit was named, and nobody was told what to do about it.
    #[test]
    fn every_method_has_a_way_out_that_names_what_there_is() {
        let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap();
        let files: Vec<_> =
            files.file.iter().filter(|file| file.package() == "clearance.v1").collect();
        let services = || files.iter().flat_map(|file| &file.service);
        let of_service = |service: &prost_types::ServiceDescriptorProto| {
            let name = service.name().to_owned();
            let methods = service.method.iter();
            methods.map(move |method| format!("{name}/{}", method.name())).collect::<Vec<_>>()
        };
        let mut methods: Vec<String> = services().flat_map(of_service).collect();
        let mut told: Vec<String> = WAYS.iter().map(|(method, _)| (*method).to_owned()).collect();
        methods.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, methods);
        let messages: Vec<_> = files.iter().flat_map(|file| &file.message_type).collect();
        let is_field = |word: &str| {
            let (message, field) = word.split_once('.').unwrap_or(("", word));
            let fields = messages.iter().filter(|one| message.is_empty() || one.name() == message);
            fields.flat_map(|one| &one.field).any(|one| one.name() == field)
        };
        let mut named = 0;
        for (method, way) in WAYS {
            for word in way.split([' ', ',']).map(|word| word.trim_end_matches('.')) {
                let is_name = word.chars().skip(1).any(|c| c.is_uppercase() || c == '_');
                if !is_name {
                    continue;
                }
                named += 1;
                let is_method = methods.iter().any(|one| one.ends_with(&format!("/{word}")));
                assert!(is_method || is_field(word), "{method}: {word}");
            }
        }
        assert!(named > 10, "{named}");
        assert_eq!(way_out("/grpc.health.v1.Health/Check"), NAMES);
    }
}
