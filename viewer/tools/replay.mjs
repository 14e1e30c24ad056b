// Plays a recording's frames again on a server of its own and compares every answer: node tools/replay.mjs PROGRAM FILE
//
// What costs are is not compared, nor what the pairs of a report that was cut would have been.
import { readFileSync } from 'node:fs';
import { gunzipSync, constants } from 'node:zlib';
import { clone, equals, fromBinary } from '@bufbuild/protobuf';
import * as session from '../gen/clearance/v1/session_service_pb.js';
import { GetPolytopeResponseSchema, RegisterPolytopesRequestSchema } from '../gen/clearance/v1/polytope_service_pb.js';
import { readMessages } from './read.mjs';
import { registerPanda, registerShapes } from './register.mjs';
import { serve } from './server.mjs';

const [program, file] = process.argv.slice(2);
const bytes = readFileSync(file);
const plain = bytes[0] === 0x1f ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes;
const messages = readMessages(plain);
const of = (topic, schema) => messages.filter((message) => message.topic === topic).map(({ data }) => fromBinary(schema, data));
const server = await serve(program, 50900 + (process.pid % 90));
let same = 0;
const wrong = [];

function compare(told, was) {
  const bare = (report) => ({ ...clone(session.FrameReportSchema, report), cost: undefined });
  if (equals(session.FrameReportSchema, bare(told), bare(was))) same += 1;
  else wrong.push(was.frameId);
}

try {
  await registerPanda(server);
  const [registration] = of('/clearance/registration', RegisterPolytopesRequestSchema);
  if (registration) await server.polytopes.registerPolytopes(registration);
  else await registerShapes(server, of('/clearance/shape', GetPolytopeResponseSchema));
  const [open] = of('/clearance/open', session.OpenSessionRequestSchema), reports = of('/clearance/report', session.FrameReportSchema);
  const opened = await server.sessions.openSession({ ...open, replace: true });
  compare(opened.report, reports[0]);
  const frames = of('/clearance/frame', session.FrameSchema);
  for (const [k, frame] of frames.entries()) {
    if (!reports[k + 1]) break;
    const { reports: [told] } = await server.sessions.stepSession({ sessionId: opened.sessionId, frames: [frame] });
    compare(told, reports[k + 1]);
  }
} finally {
  server.child.kill();
}
console.log(`${file}: ${same} answers are the same, ${wrong.length} differ${wrong.length > 0 ? `: frames ${wrong.slice(0, 10).join(', ')}` : ''}`);
process.exit(wrong.length > 0 ? 1 : 0);
