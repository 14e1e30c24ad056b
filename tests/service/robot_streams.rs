//! Streams of questions about robots: edges as configurations, and answers in several replies where
//! one would be longer than its client takes.

use api::robot_obstacle::Shape;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use prost::Message;
use tokio_stream::iter;
use tonic::{Code, Status};

use crate::robots::{SLIDER, cell_of, check as checked, robots, slider};
use crate::server::{Server, check, soon};
use crate::session_robots::{frame, open, placed, register, slider as rail, to};
use crate::sessions::{cube_at, put, started_with, step};

/// So many bytes the clients of these tests take unless they say more.
const TAKEN: usize = 20_000;

async fn small() -> Server {
    started_with(Limits { reply_bytes_default: TAKEN as u64, ..Limits::default() }).await
}

fn edges(cell: Option<&api::RobotCell>, starts: &[f64], ends: &[f64]) -> api::CheckEdgesRequest {
    let (starts, ends) = (starts.to_vec(), ends.to_vec());
    api::CheckEdgesRequest { cell: cell.cloned(), starts, ends, ..Default::default() }
}

fn message(check: api::CheckEdgesRequest) -> api::StreamEdgesRequest {
    api::StreamEdgesRequest { check: Some(check), ..Default::default() }
}

/// All replies of a stream of edges.
async fn streamed(
    server: &Server,
    messages: Vec<api::StreamEdgesRequest>,
) -> Result<Vec<api::StreamEdgesResponse>, Status> {
    let stream = robots(server).stream_edges(iter(messages)).await?;
    let (mut stream, mut replies) = (stream.into_inner(), Vec::new());
    while let Some(reply) = soon(stream.message()).await? {
        replies.push(reply);
    }
    Ok(replies)
}

/// The same without what depends on the time that it took, and where it was kept.
fn told(answer: &api::CheckEdgesResponse) -> api::CheckEdgesResponse {
    let mut answer = answer.clone();
    (answer.cost, answer.cell_not_kept) = (None, false);
    answer
}

/// A wall at x, of which the slider's cart is in contact from 1 before its middle.
fn wall(x: f64) -> api::RobotObstacle {
    let points = api::PointCloud { xyz: vec![x, 0.0, 0.0], radius: 0.5, ..Default::default() };
    api::RobotObstacle { shape: Some(Shape::Cloud(points)), ..Default::default() }
}

/// Every message is answered as a call would be, in order, in the cell of the one before where it
/// brings none; and a stream that says nothing of a cell is told so.
#[tokio::test]
async fn a_stream_of_edges_says_what_calls_say_and_keeps_its_cell() {
    let server = Server::start().await;
    let cell = slider(&server).await;
    let (starts, ends) = ([-5.0, 0.0, 4.5], [1.0, 3.0, 8.0]);
    let many: Vec<f64> = (0..300).map(|k| f64::from(k % 90) * 0.1 - 9.0).collect();
    let zeros = vec![0.0; many.len()];
    let asked = [
        edges(Some(&cell), &starts, &ends),
        edges(None, &many, &zeros),
        edges(None, &[], &[]),
        api::CheckEdgesRequest { certificate: true, ..edges(None, &[-5.0], &[3.0]) },
    ];
    let messages: Vec<_> = asked.iter().cloned().map(message).collect();
    let replies = streamed(&server, messages).await.unwrap();
    let places: Vec<_> = replies.iter().map(|reply| (reply.first_index, reply.more)).collect();
    assert_eq!(places, [(0, false), (3, false), (303, false), (303, false)]);
    for (asked, reply) in asked.into_iter().zip(&replies) {
        let asked = api::CheckEdgesRequest { cell: Some(cell.clone()), ..asked };
        let alone = robots(&server).check_edges(asked).await.unwrap().into_inner();
        let answer = reply.answer.as_ref().unwrap();
        assert_eq!(told(answer), told(&alone));
        assert!(answer.cost.is_some() && !answer.cell_not_kept);
    }
    let outcomes: Vec<_> = replies[0].answer.as_ref().unwrap().outcomes().collect();
    use api::Outcome::{Contact, NoContact};
    assert_eq!(outcomes, [NoContact, Contact, NoContact]);
    let status = streamed(&server, vec![message(edges(None, &[0.0], &[1.0]))]).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "check.cell");
    let status = streamed(&server, vec![api::StreamEdgesRequest::default()]).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "check");
    let both = api::CheckEdgesRequest {
        scene: Some(api::RobotScene::default()),
        ..edges(Some(&cell), &[0.0], &[1.0])
    };
    let status = streamed(&server, vec![message(both)]).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "check.scene");
    let odd = vec![message(edges(Some(&cell), &[0.0], &[]))];
    let status = streamed(&server, odd).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "check.ends");
}

/// The clouds of a stream's cell change before the edges of the same message, and stay changed.
#[tokio::test]
async fn a_stream_of_edges_is_answered_about_the_clouds_as_they_are_by_then() {
    let server = Server::start().await;
    let cell = cell_of(&server, SLIDER, vec![wall(5.0)]).await;
    let question = edges(Some(&cell), &[0.0], &[3.0]);
    let next = api::CheckEdgesRequest { cell: None, ..question.clone() };
    let change = api::CloudChange {
        obstacle: 0,
        first: 0,
        removed: 1,
        xyz: vec![3.0, 0.0, 0.0],
        ..Default::default()
    };
    let changed = |check: &api::CheckEdgesRequest| api::StreamEdgesRequest {
        check: Some(check.clone()),
        cloud_changes: vec![change.clone()],
    };
    let messages = vec![message(question.clone()), changed(&next), message(next.clone())];
    let replies = streamed(&server, messages).await.unwrap();
    let outcomes = replies.iter().flat_map(|reply| reply.answer.as_ref().unwrap().outcomes());
    use api::Outcome::{Contact, NoContact};
    assert_eq!(outcomes.collect::<Vec<_>>(), [NoContact, Contact, Contact]);
    // Others have the cell as it was.
    let alone = robots(&server).check_edges(question).await.unwrap().into_inner();
    assert_eq!(alone.outcomes().collect::<Vec<_>>(), [NoContact]);
    let status = streamed(&server, vec![changed(&next)]).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "check.cell");
}

/// Messages of a stream of edges are answered about the frame that is the last by then.
#[tokio::test]
async fn a_stream_of_edges_follows_the_frames_of_a_session() {
    const ARM: u32 = 100;
    let server = started_with(Limits::default()).await;
    let robot = register(&server, rail()).await;
    let (bodies, arm) = (vec![cube_at(2, 3.0)], vec![placed(ARM, &robot)]);
    let state = api::SessionState { bodies, robots: arm, ..Default::default() };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    let (sender, receiver) = tokio::sync::mpsc::channel(8);
    let requests = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let scene = Some(api::RobotScene { session_id: "s".to_owned(), ..Default::default() });
    let first = api::CheckEdgesRequest { scene, ..edges(None, &[0.0], &[2.0]) };
    sender.send(message(first.clone())).await.unwrap();
    let mut client = robots(&server);
    let mut replies = client.stream_edges(requests).await.unwrap().into_inner();
    let told = soon(replies.message()).await.unwrap().unwrap().answer.unwrap();
    use api::Outcome::{Contact, NoContact};
    assert_eq!((told.outcomes().collect::<Vec<_>>(), told.frame_id), (vec![NoContact], 0));
    step(&server, "s", vec![frame(1, vec![to(ARM, &[-5.0])]), put(2, 2.0)]).await.unwrap();
    let next = edges(None, &[0.0], &[2.0]);
    sender.send(message(next.clone())).await.unwrap();
    let told = soon(replies.message()).await.unwrap().unwrap().answer.unwrap();
    assert_eq!((told.outcomes().collect::<Vec<_>>(), told.frame_id), (vec![Contact], 2));
    let cloud_changes = vec![api::CloudChange::default()];
    let changed = api::StreamEdgesRequest { check: Some(next), cloud_changes };
    sender.send(changed).await.unwrap();
    let status = soon(replies.message()).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "cloud_changes");
}

/// The parts of an answer as the one that they are cut from.
fn whole(parts: Vec<api::CheckConfigurationsResponse>) -> api::CheckConfigurationsResponse {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap();
    for part in parts {
        let moved = |index: u32| index + all.count;
        all.contact_indices.extend(part.contact_indices.into_iter().map(moved));
        all.limit_indices.extend(part.limit_indices.into_iter().map(moved));
        all.clearance_indices.extend(part.clearance_indices.into_iter().map(moved));
        for mut refused in part.refused {
            refused.index = moved(refused.index);
            match all.refused.last_mut() {
                Some(last)
                    if last.index + last.count == refused.index
                        && last.status == refused.status =>
                {
                    last.count += refused.count;
                }
                _ => all.refused.push(refused),
            }
        }
        all.count += part.count;
        all.verdicts.extend(part.verdicts);
        all.contact_firsts.extend(part.contact_firsts);
        all.contact_seconds.extend(part.contact_seconds);
        all.contact_verdicts.extend(part.contact_verdicts);
        all.clearance_lowers.extend(part.clearance_lowers);
        all.clearance_uppers.extend(part.clearance_uppers);
        all.clearance_firsts.extend(part.clearance_firsts);
        all.clearance_seconds.extend(part.clearance_seconds);
        all.clearance_verdicts.extend(part.clearance_verdicts);
        all.points_first.extend(part.points_first);
        all.points_second.extend(part.points_second);
        all.normals.extend(part.normals);
        all.gradients.extend(part.gradients);
        all.limit_variables.extend(part.limit_variables);
        all.link_poses.extend(part.link_poses);
        all.jacobians.extend(part.jacobians);
        all.cost = part.cost;
    }
    all.cost = None;
    all
}

/// What no reply of a stream could hold was worked on and then refused, and the stream ended.
#[tokio::test]
async fn configurations_whose_answers_are_longer_than_a_reply_come_in_several_that_say_the_same() {
    let server = small().await;
    let cell = slider(&server).await;
    // Across the wall, and beyond the limits here and there.
    let values: Vec<f64> = (0..2_000).map(|k| -9.25 + f64::from(k) * 9e-3).collect();
    let slopes = api::CheckConfigurationsRequest {
        with_gradient: true,
        with_link_poses: true,
        jacobian_links: vec![1],
        ..checked(&cell, api::CheckMode::LinkClearance, &values)
    };
    let contacts = [2.75, 3.0, 12.0].repeat(2_000);
    let contacts = checked(&cell, api::CheckMode::AllPairs, &contacts);
    let listed = api::CheckConfigurationsRequest { report_limits: true, ..contacts.clone() };
    for asked in [slopes, contacts, listed] {
        let large = api::CheckConfigurationsRequest { reply_bytes_max: 1 << 22, ..asked.clone() };
        let alone = robots(&server).check_configurations(large).await.unwrap().into_inner();
        assert!(alone.encoded_len() > TAKEN * 5 / 4, "{}", alone.encoded_len());
        let few = api::CheckConfigurationsRequest {
            cell: None,
            values: asked.values[..4].to_vec(),
            ..asked.clone()
        };
        let messages = [asked, few].map(|check| api::StreamConfigurationsRequest {
            check: Some(check),
            ..Default::default()
        });
        let mut client = robots(&server).max_decoding_message_size(TAKEN);
        let mut stream = client.stream_configurations(iter(messages)).await.unwrap().into_inner();
        let (mut parts, mut count) = (Vec::new(), 0);
        loop {
            let reply = soon(stream.message()).await.unwrap().unwrap();
            let length = reply.encoded_len();
            assert!(length <= TAKEN && (length > TAKEN / 4 || !reply.more), "{length} bytes");
            assert_eq!(reply.first_index, count);
            let (more, answer) = (reply.more, reply.answer.unwrap());
            assert_eq!(answer.cost.is_none(), more);
            count += u64::from(answer.count);
            parts.push(answer);
            if !more {
                break;
            }
        }
        assert!(parts.len() > 1, "{} replies", parts.len());
        // The wire is compared, since numbers that are none are equal there.
        let alone = api::CheckConfigurationsResponse { cost: None, ..alone };
        assert!(whole(parts).encode_to_vec() == alone.encode_to_vec());
        let last = soon(stream.message()).await.unwrap().unwrap();
        assert_eq!((last.first_index, last.more), (count, false));
        assert_eq!(last.answer.unwrap().count, 4);
        assert!(soon(stream.message()).await.unwrap().is_none());
    }
}

/// The same of edges, with their certificates; and what one edge alone needs has to fit.
#[tokio::test]
async fn edges_whose_answers_are_longer_than_a_reply_come_in_several_that_say_the_same() {
    let server = small().await;
    let cell = slider(&server).await;
    let starts: Vec<f64> = (0..900).map(|k| -9.25 + f64::from(k) * 0.02).collect();
    let ends: Vec<f64> = starts.iter().map(|start| (start + 0.5).min(9.0)).collect();
    for certificate in [false, true] {
        let asked = api::CheckEdgesRequest { certificate, ..edges(Some(&cell), &starts, &ends) };
        let asked = if certificate { asked } else { repeated(asked, 5) };
        let large = api::CheckEdgesRequest { reply_bytes_max: 1 << 24, ..asked.clone() };
        let alone = robots(&server).check_edges(large).await.unwrap().into_inner();
        assert!(alone.encoded_len() > TAKEN * 5 / 4, "{}", alone.encoded_len());
        let replies = streamed(&server, vec![message(asked)]).await.unwrap();
        assert!(replies.len() > 1, "{} replies", replies.len());
        let (mut first, mut certificates) = (0, Vec::new());
        let (mut outcomes, mut near, mut refused) = (Vec::new(), Vec::new(), 0);
        for (at, reply) in replies.iter().enumerate() {
            assert!(reply.encoded_len() <= TAKEN, "{}", reply.encoded_len());
            assert_eq!((reply.first_index, reply.more), (first, at + 1 < replies.len()));
            let answer = reply.answer.as_ref().unwrap();
            outcomes.extend(answer.outcomes());
            near.extend(answer.near_indices.iter().map(|index| u64::from(*index) + first));
            refused += answer.refused.len();
            certificates.extend(answer.certificates.clone());
            first += u64::from(answer.count);
        }
        assert_eq!(outcomes, alone.outcomes().collect::<Vec<_>>());
        let expected: Vec<u64> = alone.near_indices.iter().map(|index| u64::from(*index)).collect();
        assert_eq!((near, refused), (expected, alone.refused.len()));
        assert_eq!(certificates, alone.certificates);
    }
    let one = api::CheckEdgesRequest {
        reply_bytes_max: 8,
        ..edges(Some(&cell), &starts[100..101], &ends[100..101])
    };
    let status = streamed(&server, vec![message(one)]).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "reply_bytes_max");
}

fn repeated(asked: api::CheckEdgesRequest, times: usize) -> api::CheckEdgesRequest {
    let (starts, ends) = (asked.starts.repeat(times), asked.ends.repeat(times));
    api::CheckEdgesRequest { starts, ends, ..asked }
}

/// Where it is known before how long the reply is, nothing is worked on, with every mode.
#[tokio::test]
async fn configurations_whose_answers_cannot_fit_are_refused_before_the_work_in_every_mode() {
    use api::CheckMode::{AllPairs, Clearance, FirstPair, LinkClearance, PairsBelow};
    let server = small().await;
    let cell = slider(&server).await;
    let of = |mode, count: usize| checked(&cell, mode, &vec![3.0; count]);
    let asked = [
        of(FirstPair, TAKEN + 1),
        of(AllPairs, TAKEN + 1),
        of(Clearance, 1_100),
        of(LinkClearance, 1_100),
        api::CheckConfigurationsRequest { with_gradient: true, ..of(Clearance, 250) },
        api::CheckConfigurationsRequest { below: 1.0, ..of(PairsBelow, TAKEN + 1) },
        api::CheckConfigurationsRequest { below: 1.0, pairs_max: 1, ..of(PairsBelow, 600) },
        api::CheckConfigurationsRequest { with_link_poses: true, ..of(FirstPair, 120) },
        api::CheckConfigurationsRequest { jacobian_links: vec![0], ..of(FirstPair, 450) },
    ];
    for asked in asked {
        let status = robots(&server).check_configurations(asked).await.unwrap_err();
        check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "reply_bytes_max");
    }
    let request = api::GetServerMetricsRequest {};
    let metrics = server.info().get_server_metrics(request).await.unwrap().into_inner();
    let row = metrics.questions.iter().find(|row| row.question == "check_configurations").unwrap();
    assert_eq!((row.refused, row.queries), (9, 0));
}
