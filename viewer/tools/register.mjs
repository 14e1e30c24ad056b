// Registers what a recording is about: its shapes by what is said of them, and the robot of the demo by its files.
import { readFileSync, readdirSync } from 'node:fs';

const panda = new URL('../../data/panda/', import.meta.url);
const corners = ([x, y, z]) => [-x, x].flatMap((a) => [-y, y].flatMap((b) => [-z, z].flatMap((c) => [a / 2, b / 2, c / 2])));

// A specification whose registration is the shape that is described; none of what has no vertices.
function specification({ polytope, vertices, facets }) {
  const xyz = vertices?.xyz, { radius } = polytope;
  if (!xyz) return undefined;
  switch (polytope.id[0]) {
    case 'c': return { source: { case: 'cloud', value: { xyz, radius } } };
    case 'm': case 's': return { treatment: polytope.id[0] === 'm' ? 3 : 4, source: { case: 'mesh',
      value: { vertices: { xyz }, triangles: facets.flatMap((facet) => facet.vertices) } } };
    case 'r': return { source: { case: 'rounded', value: { core: { case: 'vertices', value: { xyz } }, radius } } };
    case 'h': return undefined;
    default: return { source: { case: 'vertices', value: { xyz } } };
  }
}

export async function registerShapes({ polytopes }, shapes, more = []) {
  const specs = [...shapes.map(specification).filter(Boolean), ...more];
  const told = await polytopes.registerPolytopes({ polytopes: specs });
  const known = new Set(told.reports.map((report) => report.polytope.id));
  const missing = shapes.map(({ polytope }) => polytope.id).filter((id) => !known.has(id));
  if (missing.length > 0) throw new Error(`not to be registered from what is said of them: ${missing.join(', ')}`);
}

// The robot, and the shapes of its links also by themselves, so that they can be asked for.
export async function registerPanda({ polytopes, robots }) {
  const read = (name) => readFileSync(new URL(name, panda));
  const meshes = readdirSync(new URL('collision/', panda)).filter((name) => name.endsWith('.stl'));
  const urdf = read('panda.urdf').toString();
  const boxes = [...urdf.matchAll(/<box size="([^"]*)"/g)].map(([, size]) => size.trim().split(/\s+/).map(Number));
  await polytopes.registerPolytopes({ polytopes: [
    ...meshes.map((name) => ({ treatment: 1, source: { case: 'file', value: { content: read(`collision/${name}`) } } })),
    ...boxes.map((size) => ({ source: { case: 'vertices', value: { xyz: corners(size) } } })),
  ] });
  await robots.registerRobot({ urdf, srdf: read('panda.srdf').toString(), meshTreatment: 1,
    meshes: meshes.map((name) => ({ name, source: { case: 'content', value: read(`collision/${name}`) } })) });
}
