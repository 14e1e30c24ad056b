//! What to do where a limit refuses: of one message that is too long by method, since each has its
//! own way, of all others by the limit.

/// The methods, by service and name, and the way out of each; in the order of the interface.
const WAYS: &[(&str, &str)] = &[
    (
        "PolytopeService/RegisterPolytopes",
        "send fewer polytopes at once, and large ones by UploadPolytope",
    ),
    ("PolytopeService/UploadPolytope", "send the polytope in more parts"),
    ("PolytopeService/DecomposeMesh", NAMES),
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
        "send its mesh files in chunks, by UploadRobot, or register meshes and name them by \
         RobotMesh.id",
    ),
    ("RobotService/UploadRobot", "send the files in more chunks, and none beside the robot"),
    ("RobotService/GetRobot", NAMES),
    ("RobotService/ListRobots", NAMES),
    ("RobotService/DeleteRobot", NAMES),
    ("RobotService/FindMissingRobots", "ask about fewer ids at once"),
    ("RobotService/SuggestAllowedPairs", NAMES),
    (
        "RobotService/CheckConfigurations",
        "send the cell once and the values in many messages, by StreamConfigurations, or what is \
         in it as a session, by OpenSession and frames, and its scene in place of the cell",
    ),
    (
        "RobotService/StreamConfigurations",
        "send the values in more messages, or what is in a large cell as a session, by OpenSession \
         and frames, and its scene in place of the cell",
    ),
    (
        "RobotService/CheckEdges",
        "send the cell once and the edges in many messages, by StreamEdges, or what is in it as a \
         session, by OpenSession and frames, and its scene in place of the cell",
    ),
    (
        "RobotService/StreamEdges",
        "send the edges in more messages, or what is in a large cell as a session, by OpenSession \
         and frames, and its scene in place of the cell",
    ),
    (
        "RobotService/CheckPath",
        "send the path in more pieces, or what is in the cell as a session, by OpenSession and \
         frames, and its scene in place of the cell",
    ),
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

/// The limits that refuse, and the way out of each; in the order of the settings.
const LIMIT_WAYS: &[(&str, &str)] = &[
    ("inline_points_max", "register the body, by UploadPolytope if it is large, and name its id"),
    ("batch_items_max", "send fewer questions at once"),
    ("batch_reply_bytes_max", "send fewer questions at once, or say omit_certificate"),
    ("collision_bodies_max", "ask about fewer bodies at once"),
    ("collision_vertices_max", "ask about fewer bodies at once, or about their hulls"),
    ("message_bytes_max", "send less in one message"),
    ("memory_bytes_max", "try again when others have ended, or send less at once"),
    ("message_seconds_max", "send the message faster, or in several smaller ones"),
    ("decoded_bytes_max", "send fewer entries in one message, and long lists packed"),
    ("certificate_entries_max", "ask about fewer parts or a smaller body at once"),
    ("connections_max", "close connections that are idle, and share one among calls"),
    ("http_connections_max", "close connections that are idle, and read replies to their ends"),
    ("header_bytes_max", "send fewer or shorter headers"),
    ("unsent_bytes_max", "read the replies of earlier calls first, or ask for less at once"),
    ("call_seconds_max", "ask for less at once"),
    ("jobs_max", "try again soon"),
    ("polytopes_max", "delete polytopes that nobody uses any more"),
    ("polytope_bytes_max", "delete polytopes that nobody uses any more"),
    ("points_max", "give fewer points: those inside of their hull change nothing"),
    ("triangles_max", "simplify the mesh, or register it in several parts"),
    ("mesh_pieces_max", "ask for fewer pieces, or decompose the mesh in several parts"),
    ("heights_max", "take a coarser grid, or register the terrain in several parts"),
    ("polyhedron_steps_max", "simplify the mesh where slivers lie side by side, or take its hull"),
    (
        "polyhedron_steps_per_triangle",
        "simplify the mesh where slivers lie side by side, or take its hull",
    ),
    ("registration_items_max", "send fewer polytopes at once"),
    (
        "upload_bytes_max",
        "simplify the mesh, register it in several parts, or name meshes of robots by RobotMesh.id",
    ),
    ("robots_max", "delete robots that nobody uses any more"),
    ("robot_bytes_max", "delete robots that nobody uses any more, or simplify the meshes"),
    ("keys_per_robot_max", "delete the robot by one of its keys, or share one key"),
    ("robot_xml_nodes_max", "leave out of the URDF what is only shown: visual elements"),
    ("robot_links_max", "join links that no joint moves"),
    ("robot_parts_max", "join collision elements of one link, or leave some out"),
    ("robot_depth_max", "join links that no joint moves"),
    (
        "robots_per_cell_max",
        "make two cells of those that are far from each other, or open a session with all of them, \
         by OpenSession, and ask about its scene",
    ),
    (
        "obstacles_per_cell_max",
        "leave out what is out of reach, or open a session with all of it, by OpenSession and \
         frames, and ask about its scene",
    ),
    ("rules_per_cell_max", "say it by the SRDF, or ask a session that has groups and masks"),
    ("attached_per_cell_max", "join what a link carries to hulls"),
    (
        "cloud_points_max",
        "leave out what is out of reach, or one of points that are near each other",
    ),
    ("cloud_changes_max", "send the changes in several messages"),
    ("configurations_max", "send fewer at once, or a stream of them by StreamConfigurations"),
    ("configuration_entries_max", "send fewer at once, or a stream by StreamConfigurations"),
    ("pairs_per_configuration_max", "ask for fewer pairs, or those below a shorter distance"),
    ("edges_max", "send fewer edges at once, or a stream of them by StreamEdges"),
    ("certified_edges_max", "send fewer edges at once, or without certificate"),
    ("store_bytes_max", "delete what nobody uses any more: its room is free a day later"),
    ("uploads_max", "wait until one of the uploads has ended"),
    ("aliases_max", "delete polytopes whose aliases nobody uses any more"),
    ("aliases_per_polytope_max", "use one of its aliases, or its id"),
    ("find_missing_ids_max", "ask about fewer ids at once"),
    ("sessions_max", "close a session that is not needed any more, or use another server"),
    ("bodies_per_session_max", "open several sessions, or make parts of one body of several"),
    ("bodies_per_message_max", "send the others in the next message, or packed_poses"),
    ("parts_per_body_max", "make several bodies of it, whose pairs are not checked"),
    ("parts_per_session_max", "open several sessions, or join parts to hulls"),
    ("robots_per_session_max", "open several sessions"),
    ("pairs_per_frame_max", "check fewer pairs by masks, groups or rules, or list fewer than all"),
    ("rules_per_session_max", "say the rules by groups, or by category and mask"),
    ("classes_per_session_max", "use fewer groups in the rules, or category and mask"),
    ("session_bytes_max", "close a session that is not needed any more, or use another server"),
    ("session_keys_max", "bring fewer session_keys at once"),
    ("history_frames_max", "keep fewer past frames"),
    ("scene_queries_max", "send fewer questions at once, or rays and casts packed"),
    ("packed_rays_max", "send fewer at once"),
    ("frames_per_step_max", "send fewer frames at once"),
    ("session_calls_max", "wait for the answer to one call before the next"),
    ("step_reply_bytes_max", "send fewer frames at once, or ask for less of each"),
    ("watchers_per_session_max", "end a watch, or let one client hand on what it sees"),
];

/// The way out of a limit, if it refuses.
pub(super) fn way_out_of(limit: &str) -> &'static str {
    LIMIT_WAYS.iter().find(|(name, _)| *name == limit).map_or("", |(_, way)| way)
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

    /// `decoded_bytes_max` and places were named, and nobody was told what to do about them.
    #[test]
    fn every_limit_that_refuses_has_a_way_out() {
        use clearance_runtime::settings::{Breach, Limit, Limits};
        let refuses =
            |limit: &&Limit| limit.breach != Breach::Cut && limit.breach != Breach::Unavailable;
        let refusing: Vec<&str> =
            Limits::TABLE.iter().filter(refuses).map(|one| one.name).collect();
        let told: Vec<&str> = LIMIT_WAYS.iter().map(|(name, _)| *name).collect();
        for name in &refusing {
            assert!(told.contains(name), "{name} has no way out");
        }
        let known = Limits::TABLE.iter().map(|one| one.name);
        let in_order: Vec<&str> = known.filter(|name| told.contains(name)).collect();
        assert_eq!(told, in_order);
    }
}
