// A recording of so many hulls that move, made without a server: what it draws is measured, not what it says.
import { create } from '@bufbuild/protobuf';
import { WatchSessionResponseSchema } from '../gen/clearance/v1/session_service_pb.js';
import { Writer } from '../tools/mcap.mjs';
import { crowd as scene } from '../tools/scenes.mjs';

export function crowd(count, frames) {
  const { bodies, shapes } = scene(count, frames), writer = new Writer();
  const moving = bodies.filter((body) => !body.fixed).map((body, k) => ({ ...body, id: k + 1 }));
  const say = (message, time) => writer.write('/clearance/watch', WatchSessionResponseSchema, create(WatchSessionResponseSchema, message), BigInt(Math.round(time * 1e9)));
  say({ state: { bodies: moving.map(({ id, name, shape, at }) => {
    const [x, y, z, w, i, j, k] = at(0);
    return { id, name, parts: [{ source: shapes[shape].source }],
      pose: { translation: { x, y, z }, orientation: { case: 'rotation', value: { w, x: i, y: j, z: k } } } };
  }) } }, 0);
  for (let frame = 1; frame <= frames; frame++) {
    const poses = moving.map(({ at }) => at(frame));
    say({ frame: { frameId: BigInt(frame), previousFrameId: BigInt(frame - 1), packedPoses: { ids: moving.map(({ id }) => id),
      translations: poses.flatMap((pose) => pose.slice(0, 3)), rotations: poses.flatMap((pose) => pose.slice(3)) } } }, frame / 30);
  }
  return writer.end();
}
