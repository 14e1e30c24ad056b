// Records a scene on a server of its own: node tools/record.mjs PROGRAM cell|proofs|crowd FILE.mcap
//
// The cell is that of `clearance demo`: its session is watched, and played again with more in its reports.
import { writeFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import * as session from '../gen/clearance/v1/session_service_pb.js';
import { GetPolytopeResponseSchema, RegisterPolytopesRequestSchema } from '../gen/clearance/v1/polytope_service_pb.js';
import { RobotSchema } from '../gen/clearance/v1/robot_service_pb.js';
import { Writer } from './mcap.mjs';
import { registerPanda, registerShapes } from './register.mjs';
import { clientsOf, serve, started } from './server.mjs';
import { crowd, proofs } from './scenes.mjs';

const PORT = 50400 + (process.pid % 500);
const pose = ([x, y, z, w, i, j, k]) => ({
  translation: { x, y, z }, orientation: { case: 'rotation', value: { w, x: i, y: j, z: k } },
});

// A registered shape with its vertices and facets; of a curved one, which has none, without.
async function described({ polytopes }, id) {
  const key = { case: 'id', value: id };
  return polytopes.getPolytope({ key, withVertices: true, withFacets: true })
    .catch(() => polytopes.getPolytope({ key }));
}

// Opens the session, watches it, sends the frames, and writes down what is said.
async function record(server, scene, file) {
  const { sessions } = server;
  const report = {
    pairs: session.PairSelection.CHANGED, distances: true, closestPoints: true, firstContacts: true, certificates: true,
    normals: true, impacts: scene.impacts, depths: true, nearestPairs: scene.nearest, timeTolerance: 1e-6,
  };
  const writer = new Writer();
  const period = BigInt(Math.round(1e9 / scene.rate)), time = (frame) => BigInt(frame) * period;
  const open = create(session.OpenSessionRequestSchema, {
    sessionId: scene.name, state: scene.state, report: { ...report, placedParts: true }, replace: true,
  });
  const opened = await sessions.openSession(open);
  if (scene.registration) writer.write('/clearance/registration', RegisterPolytopesRequestSchema, scene.registration, 0n);
  writer.write('/clearance/open', session.OpenSessionRequestSchema, open, 0n);
  const stop = new AbortController();
  const watch = sessions.watchSession({ sessionId: scene.name, incarnation: opened.incarnation }, { signal: stop.signal });
  const watched = watch[Symbol.asyncIterator]();
  const first = (await watched.next()).value;
  for (const robot of scene.robots ?? []) writer.write('/clearance/robot', RobotSchema, robot, 0n);
  for (const id of new Set(scene.polytopes)) {
    const shape = await described(server, id);
    writer.write('/clearance/shape', GetPolytopeResponseSchema, shape, 0n);
  }
  writer.write('/clearance/watch', session.WatchSessionResponseSchema, first, 0n);
  writer.write('/clearance/report', session.FrameReportSchema, opened.report, 0n);
  for (let id = 1; id <= scene.frames; id++) {
    const frame = create(session.FrameSchema, { frameId: BigInt(id), report, ...scene.frame(id) });
    const stepped = await sessions.stepSession({ sessionId: scene.name, frames: [frame] });
    const told = (await watched.next()).value;
    writer.write('/clearance/frame', session.FrameSchema, frame, time(id));
    writer.write('/clearance/watch', session.WatchSessionResponseSchema, told, time(id));
    writer.write('/clearance/report', session.FrameReportSchema, stepped.reports[0], time(id));
    if (stepped.reports[0].status) throw new Error(JSON.stringify(stepped.reports[0].status));
  }
  stop.abort();
  const bytes = writer.end();
  writeFileSync(file, bytes);
  console.log(`${file}: ${scene.frames} frames, ${bytes.length} bytes`);
}

// A scene of `scenes.mjs`: registered, and as the state of a session.
async function made(server, scene) {
  const names = Object.keys(scene.shapes);
  const registration = create(RegisterPolytopesRequestSchema, { polytopes: names.map((name) => scene.shapes[name]) });
  const reply = await server.polytopes.registerPolytopes(registration);
  const ids = new Map(names.map((name, k) => [name, reply.reports[k].polytope.id]));
  const at = (id) => (body) => pose(body.at(id));
  const bodies = scene.bodies.map((body, k) => ({
    id: k + 1, name: body.name, fixed: body.fixed ?? false, pose: at(0)(body), groups: body.groups ?? [],
    parts: [{ source: { case: 'id', value: ids.get(body.shape) } }],
  }));
  const moving = scene.bodies.map((body, k) => ({ body, id: k + 1 })).filter(({ body }) => !body.fixed);
  return {
    ...scene, registration, state: { bodies }, polytopes: [...ids.values()],
    frame: (t) => ({ packedPoses: {
      ids: moving.map(({ id }) => id),
      translations: moving.flatMap(({ body }) => body.at(t).slice(0, 3)),
      rotations: moving.flatMap(({ body }) => body.at(t).slice(3)),
    } }),
  };
}

// The demo's scene and the joint values that it goes through, as a watcher sees them.
async function cell(program, server, every = 5) {
  const { child, found } = await started(program, ['demo', '--quiet', '--out', `/tmp/${process.pid}.svg`], /http:\/\/\S+:\d+/,
    { CLEARANCE_LISTEN: '127.0.0.1:0' });
  const demo = clientsOf(found[0]);
  let id;
  while (!id) id = (await demo.sessions.listSessions({})).sessions[0]?.sessionId;
  let state, kept = [], shapes = [], robots = [];
  try {
    for await (const told of demo.sessions.watchSession({ sessionId: id })) {
      if (told.state) {
        state = told.state;
        for (const held of state.robots) robots.push((await demo.robots.getRobot({ id: held.robotId })).robot);
        for (const held of new Set(state.bodies.flatMap((body) => body.parts.map((part) => part.source.value)))) {
          shapes.push(await described(demo, held));
        }
      }
      if (told.frame?.robotMoves[0]) kept.push(told.frame.robotMoves[0]);
    }
  } catch (error) {
    if (kept.length === 0) throw error;
  }
  child.kill();
  await registerShapes(server, shapes);
  await registerPanda(server);
  const used = new Set(robots.flatMap((robot) => robot.parts.map((part) => part.polytopeId)));
  kept = kept.filter((_, k) => k % every === every - 1);
  return {
    name: 'cell', rate: 100 / every, frames: kept.length, nearest: 8, impacts: true, robots, state: { ...state, frameId: 0n },
    polytopes: [...shapes.map((shape) => shape.polytope.id), ...used], frame: (k) => ({ robotMoves: [kept[k - 1]] }),
  };
}

const [program, which, file] = process.argv.slice(2);
const server = await serve(program, PORT);
try {
  const scene = which === 'cell' ? await cell(program, server)
    : await made(server, which === 'crowd' ? crowd() : proofs());
  await record(server, scene, file);
} finally {
  server.child.kill();
}
process.exit(0);
