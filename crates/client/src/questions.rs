//! Calls with one request and one answer, tried again where that helps.

use crate::connection::Client;
use crate::error::Error;
use clearance_proto as api;

/// One method for each call: its name, the service, the request and the answer.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident in $service:ident: $request:ident -> $answer:ident;)*) => {
        impl Client {$(
            $(#[$doc])*
            pub async fn $name(&self, request: api::$request) -> Result<api::$answer, Error> {
                let ask = async || self.$service().$name(request.clone()).await;
                Ok(self.retried(ask).await?.into_inner())
            }
        )*}
    };
}

calls! {
    /// How two bodies stand.
    check_collision in queries: CheckCollisionRequest -> CheckCollisionResponse;
    /// How far two bodies are from each other.
    measure_distance in queries: MeasureDistanceRequest -> MeasureDistanceResponse;
    /// When two bodies are in contact if one moves along a direction.
    measure_distance_along in queries:
        MeasureDistanceAlongRequest -> MeasureDistanceAlongResponse;
    /// How deep two bodies overlap.
    measure_penetration in queries: MeasurePenetrationRequest -> MeasurePenetrationResponse;
    /// When two moving bodies first meet.
    find_first_contact in queries: FindFirstContactRequest -> FindFirstContactResponse;
    /// Which of several moving bodies first meet, and when.
    find_first_collision in queries: FindFirstCollisionRequest -> FindFirstCollisionResponse;
    /// Many questions at once.
    batch_query in queries: BatchQueryRequest -> BatchQueryResponse;
    /// Whether a server accepts an answer; [`Client::verify`] needs none.
    verify_certificate in queries: VerifyCertificateRequest -> VerifyCertificateResponse;
    /// Registers polytopes in one message, all of them or none. [`Client::register`] also keeps
    /// what is needed to verify answers about them.
    register_polytopes in polytopes: RegisterPolytopesRequest -> RegisterPolytopesResponse;
    /// Describes a polytope.
    get_polytope in polytopes: GetPolytopeRequest -> GetPolytopeResponse;
    /// Whether robots are in contact in many configurations.
    check_configurations in robots: CheckConfigurationsRequest -> CheckConfigurationsResponse;
    /// Whether robots are free on straight ways between configurations.
    check_edges in robots: CheckEdgesRequest -> CheckEdgesResponse;
    /// Whether a robot is free on a way of several edges.
    check_path in robots: CheckPathRequest -> CheckPathResponse;
    /// What a session has declared.
    get_session in sessions: GetSessionRequest -> GetSessionResponse;
    /// Asks the scene of a session.
    query_scene in sessions: QuerySceneRequest -> QuerySceneResponse;
    /// Ends a session.
    close_session in sessions: CloseSessionRequest -> CloseSessionResponse;
    /// What the server is, its limits and what it holds.
    get_server_info in server: GetServerInfoRequest -> GetServerInfoResponse;
}
