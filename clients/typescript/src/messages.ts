// Every message and enum of the API, with the schemas that make, read and write them.

export { create, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
export * from "./gen/clearance/v1/certificate_pb.js";
export * from "./gen/clearance/v1/cost_pb.js";
export * from "./gen/clearance/v1/geometry_pb.js";
export * from "./gen/clearance/v1/polytope_service_pb.js";
export * from "./gen/clearance/v1/query_service_pb.js";
export * from "./gen/clearance/v1/robot_service_pb.js";
export * from "./gen/clearance/v1/scene_query_pb.js";
export * from "./gen/clearance/v1/server_service_pb.js";
export * from "./gen/clearance/v1/session_robot_pb.js";
export * from "./gen/clearance/v1/session_service_pb.js";
export * from "./gen/clearance/v1/status_pb.js";
