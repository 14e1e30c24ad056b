// The scenes that are recorded: of each the shapes, the bodies and where these are in every frame.

// Random numbers in [0, 1) under a seed.
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const points = (xyz) => ({ source: { case: 'vertices', value: { xyz } } });
const box = (x, y, z) =>
  points([-1, 1].flatMap((a) => [-1, 1].flatMap((b) => [-1, 1].flatMap((c) => [a * x / 2, b * y / 2, c * z / 2]))));
const rounded = (core, radius) => ({ source: { case: 'rounded', value: { core, radius } } });

function unit(rng, n) {
  for (;;) {
    const v = Array.from({ length: n }, () => 2 * rng() - 1);
    const length = Math.hypot(...v);
    if (length > 0.1 && length <= 1) return v.map((x) => x / length);
  }
}

function hull(rng, radius, count) {
  const stretch = [0.6 + 0.4 * rng(), 0.6 + 0.4 * rng(), 0.6 + 0.4 * rng()];
  return points(Array.from({ length: count }, () => unit(rng, 3).map((x, k) => x * radius * stretch[k])).flat());
}

// A turn about an axis.
const about = (axis, angle) => [Math.cos(angle / 2), ...axis.map((x) => x * Math.sin(angle / 2))];

// Turns a quaternion by another one.
function times([a, b, c, d], [w, x, y, z]) {
  return [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w];
}

// Bodies of every kind, each pair of them with something to prove: what passes, what rests, what is met between frames.
export function proofs() {
  const rng = random(7);
  const height = (r, c) => 0.09 * Math.sin(c / 2) * Math.cos(r / 2.5) + 0.04 * Math.sin(r / 1.7 + c / 2.3);
  const rows = 21;
  const heights = Array.from({ length: rows * rows }, (_, k) => height(Math.floor(k / rows), k % rows));
  const dots = Array.from({ length: 260 }, (_, k) => {
    const a = k * 0.16;
    return [0.34 * Math.cos(a) * (1 + 0.1 * rng()), 0.34 * Math.sin(a) * (1 + 0.1 * rng()), k * 0.0026];
  }).flat();
  const shapes = {
    terrain: { source: { case: 'heightField', value: { rows, columns: rows, spacingX: 0.25, spacingY: 0.25, heights } } },
    plate: box(0.9, 0.02, 0.9),
    bullet: rounded({ case: 'length', value: 0.12 }, 0.03),
    gem: hull(rng, 0.34, 26),
    wedge: points([-0.3, -0.3, 0, 0.3, -0.3, 0, 0.3, 0.3, 0, -0.3, 0.3, 0, -0.3, 0, 0.45, 0.3, 0, 0.45]),
    crate: box(0.5, 0.5, 0.5),
    slab: box(0.9, 0.5, 0.16),
    star: hull(rng, 0.4, 14),
    ball: rounded({ case: undefined }, 0.2),
    tile: rounded({ case: 'box', value: { x: 0.4, y: 0.3, z: 0.1 } }, 0.06),
    egg: rounded({ case: 'ellipsoid', value: { x: 0.28, y: 0.2, z: 0.2 } }, 0),
    can: rounded({ case: 'cylinder', value: { radiusXy: 0.16, length: 0.42 } }, 0),
    cone: rounded({ case: 'cone', value: { radiusXy: 0.2, length: 0.44 } }, 0),
    cloud: { source: { case: 'cloud', value: { xyz: dots, radius: 0.02 } } },
  };
  const still = (x, y, z, turn = [1, 0, 0, 0]) => () => [x, y, z, ...turn];
  const spin = (at, axis, rate, way = () => [0, 0, 0]) => (t) => {
    const d = way(t);
    return [at[0] + d[0], at[1] + d[1], at[2] + d[2], ...about(axis, rate * t)];
  };
  const bodies = [
    { name: 'terrain', shape: 'terrain', fixed: true, at: still(-2.5, -2.5, -0.25) },
    { name: 'plate', shape: 'plate', fixed: true, at: still(-1.1, 0.9, 0.5) },
    // It is 0.7 m on from frame to frame, and the plate 2 cm thick: no frame sees them meet.
    { name: 'bullet', shape: 'bullet', at: (t) => [-1.2, -1.3 + 0.07 * ((t * 10) % 60), 0.62, ...about([1, 0, 0], Math.PI / 2)] },
    { name: 'gem', shape: 'gem', at: spin([1.05, -0.95, 0.62], [0.6, 0.64, 0.48], 0.11, (t) => [0.28 * Math.sin(t / 9), 0, 0]) },
    { name: 'wedge', shape: 'wedge', at: spin([1.75, -0.95, 0.35], [0, 0, 1], 0.05) },
    { name: 'crate', shape: 'crate', at: still(0.25, 0.15, 0.25) },
    { name: 'slab', shape: 'slab', at: spin([0.25, 0.15, 0.66], [0, 0, 1], 0.04, (t) => [0, 0, 0.085 * Math.sin(t / 7)]) },
    { name: 'star', shape: 'star', at: spin([-0.9, -1.2, 0.75], [0.8, 0, 0.6], 0.15, (t) => [0.5 * Math.sin(t / 11), 0.2 * Math.cos(t / 11), 0]) },
    { name: 'ball', shape: 'ball', at: (t) => [-0.2, -1.2, 0.42 + 0.5 * Math.abs(Math.sin(t / 8)), 1, 0, 0, 0] },
    { name: 'tile', shape: 'tile', at: spin([1.3, 0.75, 0.5], [0.36, 0.48, 0.8], 0.09) },
    { name: 'egg', shape: 'egg', at: spin([1.3, 1.35, 0.55], [1, 0, 0], 0.03, (t) => [0, -0.03 * Math.sin(t / 8), 0]) },
    { name: 'can', shape: 'can', fixed: true, at: still(0.4, 1.5, 0.21) },
    { name: 'cone', shape: 'cone', fixed: true, at: still(-0.2, 1.65, 0.22) },
    { name: 'cable', shape: 'cloud', at: still(0.35, -1.35, 0.02) },
  ];
  return { name: 'proofs', shapes, bodies, frames: 72, rate: 20, impacts: true, nearest: 7 };
}

// So many hulls in a hall, all of which move and turn.
export function crowd(count = 2000, frames = 60) {
  const rng = random(11);
  const shapes = {};
  for (let k = 0; k < 24; k++) shapes[`hull${k}`] = hull(rng, 1, 16 + Math.floor(rng() * 40));
  shapes.pillar = box(1.2, 1.2, 12);
  const side = 3.1 * Math.cbrt(count * 1.6);
  const hall = [side * 1.3, side * 1.3, side * 0.55];
  const bodies = [];
  for (let k = 0; k < 24; k++) {
    const a = (k / 24) * 2 * Math.PI;
    bodies.push({ name: `pillar ${k + 1}`, shape: 'pillar', fixed: true,
      at: (at => () => at)([hall[0] * 0.36 * Math.cos(a), hall[1] * 0.36 * Math.sin(a), -hall[2] / 2 + 6, 1, 0, 0, 0]) });
  }
  for (let k = 0; k < count; k++) {
    const from = hall.map((x) => (rng() - 0.5) * x), velocity = unit(rng, 3).map((x) => x * (1 + 5 * rng()));
    const turn = unit(rng, 4), axis = unit(rng, 3), rate = 1.5 * rng();
    const fold = (x, size) => {
      const y = ((x + size / 2) % (2 * size) + 2 * size) % (2 * size);
      return (y < size ? y : 2 * size - y) - size / 2;
    };
    bodies.push({ name: `body ${k + 1}`, shape: `hull${k % 24}`, at: (t) => {
      const s = t / 30;
      return [...from.map((x, i) => fold(x + velocity[i] * s, hall[i])), ...times(about(axis, rate * s), turn)];
    } });
  }
  return { name: 'crowd', shapes, bodies, frames, rate: 30, impacts: true, nearest: 24 };
}
