// A server with its door for browsers, and a session on it that goes on.
import { clientsOf, started } from '../tools/server.mjs';
import { proofs } from '../tools/scenes.mjs';

const [LISTEN, HTTP] = [50300 + (process.pid % 90), 50150 + (process.pid % 90)];

// Nothing where the side port does not answer calls.
export async function doorOf(program) {
  const args = ['serve', '--listen', `127.0.0.1:${LISTEN}`, '--http', `127.0.0.1:${HTTP}`];
  const url = `http://127.0.0.1:${HTTP}/`;
  // The side port may come a moment after the other one.
  const begin = async () => {
    const { child } = await started(program, args, /listening/);
    for (let tries = 0; tries < 100; tries++) {
      if (await fetch(`${url}livez`).then((reply) => reply.ok, () => false)) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return child;
  };
  let child = await begin();
  const close = () => child.kill();
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  const isThere = (path, how) => fetch(url + path, how).then((reply) => reply.ok, () => false);
  if (!await isThere('clearance.v1.SessionService/ListSessions', call) || !await isThere('', {})) {
    close();
    return undefined;
  }
  return {
    url, close, clients: clientsOf(`http://127.0.0.1:${LISTEN}`),
    async restart() {
      const over = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await over;
      child = await begin();
    },
  };
}

const pose = ([x, y, z, w, i, j, k]) => ({ translation: { x, y, z }, orientation: { case: 'rotation', value: { w, x: i, y: j, z: k } } });

// Opens a session and sends frame after frame; `again` restates it on a server that has forgotten it.
export async function playing({ clients: { sessions, polytopes } }) {
  const scene = proofs(), names = Object.keys(scene.shapes);
  const moving = scene.bodies.map((body, k) => ({ body, id: k + 1 })).filter(({ body }) => !body.fixed);
  let frame = 0, isOver = false;
  async function open() {
    const reply = await polytopes.registerPolytopes({ polytopes: names.map((name) => scene.shapes[name]) });
    const ids = new Map(names.map((name, k) => [name, reply.reports[k].polytope.id]));
    const bodies = scene.bodies.map((body, k) => ({ id: k + 1, name: body.name, fixed: body.fixed ?? false, pose: pose(body.at(frame)),
      parts: [{ source: { case: 'id', value: ids.get(body.shape) } }] }));
    await sessions.openSession({ sessionId: 'live', state: { bodies, frameId: BigInt(frame) }, report: { firstContacts: true, impacts: true }, replace: true });
  }
  async function run() {
    while (!isOver) {
      const next = frame + 1, at = moving.map(({ body }) => body.at(next));
      const packedPoses = { ids: moving.map(({ id }) => id), translations: at.flatMap((p) => p.slice(0, 3)), rotations: at.flatMap((p) => p.slice(3)) };
      // While the server is away nothing is sent.
      await sessions.stepSession({ sessionId: 'live', frames: [{ frameId: BigInt(next), packedPoses }] }).then(() => { frame = next; }, () => {});
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  }
  await open();
  void run();
  return { again: open, stop: () => { isOver = true; } };
}
