// What bodies look like: of each shape its triangles, and the vertices that certificates name.
import { ConvexHull } from 'three/addons/math/ConvexHull.js';
import { Vector3 } from 'three';
import type { GetPolytopeResponse } from '../gen/clearance/v1/polytope_service_pb.js';
import type { RoundedShape } from '../gen/clearance/v1/geometry_pb.js';
import { type Vec, add, cross, dot, norm, scale, sub, unit } from './math.js';

export interface Shape {
  // Three coordinates a corner, three corners a triangle.
  positions: number[];
  normals: number[];
  // Of each corner, which of the triangle's edges opposite to it are edges of the shape: see `stage.ts`.
  edges: number[];
  // In canonical order, as certificates name them; of a rounded shape those of its polytope.
  vertices: Vec[];
  // Those of triangles, where certificates name faces.
  radius: number;
  // The largest distance of a point from the origin of its frame.
  reach: number;
}

function empty(radius = 0): Shape {
  return { positions: [], normals: [], edges: [], vertices: [], radius, reach: 0 };
}

function measured(shape: Shape): Shape {
  const { positions } = shape;
  let most = 0;
  for (let k = 0; k < positions.length; k += 3) {
    most = Math.max(most, Math.hypot(positions[k]!, positions[k + 1]!, positions[k + 2]!));
  }
  shape.reach = most;
  return shape;
}

// A polygon as a fan, whose inner diagonals are no edges.
function addFacet(shape: Shape, loop: Vec[], isEdge = true): void {
  if (loop.length < 3) return;
  let normal: Vec = [0, 0, 0];
  for (let k = 1; k + 1 < loop.length; k++) normal = add(normal, cross(sub(loop[k]!, loop[0]!), sub(loop[k + 1]!, loop[0]!)));
  normal = unit(normal);
  for (let k = 1; k + 1 < loop.length; k++) {
    // The edge opposite to the first corner is outer; the others are where the fan begins and ends.
    const outer = [true, k + 2 === loop.length, k === 1].map((is) => (is && isEdge ? 1 : 0));
    for (const corner of [loop[0]!, loop[k]!, loop[k + 1]!]) {
      shape.positions.push(...corner);
      shape.normals.push(...normal);
      shape.edges.push(outer[0]!, outer[1]!, outer[2]!);
    }
  }
}

function points(xyz: number[]): Vec[] {
  const out: Vec[] = [];
  for (let k = 0; k + 2 < xyz.length; k += 3) out.push([xyz[k]!, xyz[k + 1]!, xyz[k + 2]!]);
  return out;
}

// Extreme points in canonical order and the facets that they span.
export function ofPoints(xyz: number[]): Shape {
  const given = points(xyz);
  const shape = empty();
  const flat = given.length < 4 ? undefined : hullOf(given);
  if (!flat) {
    shape.vertices = sorted(given);
    if (given.length === 3) {
      addFacet(shape, given);
      addFacet(shape, [given[0]!, given[2]!, given[1]!]);
    } else {
      addBall(shape, given, 0.004);
    }
    return measured(shape);
  }
  const used = new Map<string, Vec>();
  for (const [a, b, c] of flat) {
    for (const corner of [a, b, c]) used.set(corner.join(), corner);
    addFacet(shape, [a, b, c]);
  }
  hideFlatEdges(shape);
  shape.vertices = sorted([...used.values()]);
  return measured(shape);
}

function hullOf(given: Vec[]): [Vec, Vec, Vec][] | undefined {
  const hull = new ConvexHull();
  try {
    hull.setFromPoints(given.map((v) => new Vector3(...v)));
  } catch {
    return undefined;
  }
  const out = hull.faces.map((face) => {
    const corners: Vec[] = [];
    let edge = face.edge;
    do {
      const { x, y, z } = edge.head().point;
      corners.push([x, y, z]);
      edge = edge.next;
    } while (edge !== face.edge);
    return corners as [Vec, Vec, Vec];
  });
  return out.length > 0 ? out : undefined;
}

function sorted(vertices: Vec[]): Vec[] {
  return [...vertices].sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
}

// An edge between two triangles that lie in nearly one plane is not drawn.
function hideFlatEdges(shape: Shape, least = 0.02): void {
  const { positions, normals, edges } = shape;
  const key = (k: number) => `${positions[3 * k]!.toPrecision(9)},${positions[3 * k + 1]!.toPrecision(9)},${positions[3 * k + 2]!.toPrecision(9)}`;
  const sides = new Map<string, number[]>();
  const count = positions.length / 9;
  for (let t = 0; t < count; t++) {
    const corners = [0, 1, 2].map((c) => key(3 * t + c));
    for (let c = 0; c < 3; c++) {
      const ends = [corners[(c + 1) % 3]!, corners[(c + 2) % 3]!].sort().join('|');
      const list = sides.get(ends) ?? [];
      list.push(3 * t + c);
      sides.set(ends, list);
    }
  }
  for (const list of sides.values()) {
    const [a, b] = list;
    if (a === undefined || b === undefined || list.length !== 2) continue;
    const cosine = normals[3 * a]! * normals[3 * b]! + normals[3 * a + 1]! * normals[3 * b + 1]! + normals[3 * a + 2]! * normals[3 * b + 2]!;
    // Triangles of surfaces are turned either way.
    if (Math.abs(cosine) < Math.cos(least)) continue;
    for (const side of list) {
      const first = side - (side % 3);
      for (let c = 0; c < 3; c++) edges[3 * (first + c) + (side % 3)] = 0;
    }
  }
}

// Directions all around, as triangles of a ball that is divided so often.
function directions(level: number): { at: Vec[]; triangles: number[] } {
  const g = (1 + Math.sqrt(5)) / 2;
  const at = ([[-1, g, 0], [1, g, 0], [-1, -g, 0], [1, -g, 0], [0, -1, g], [0, 1, g], [0, -1, -g], [0, 1, -g],
    [g, 0, -1], [g, 0, 1], [-g, 0, -1], [-g, 0, 1]] as Vec[]).map(unit);
  let triangles = [0, 11, 5, 0, 5, 1, 0, 1, 7, 0, 7, 10, 0, 10, 11, 1, 5, 9, 5, 11, 4, 11, 10, 2, 10, 7, 6, 7, 1, 8,
    3, 9, 4, 3, 4, 2, 3, 2, 6, 3, 6, 8, 3, 8, 9, 4, 9, 5, 2, 4, 11, 6, 2, 10, 8, 6, 7, 9, 8, 1];
  for (let round = 0; round < level; round++) {
    const between = new Map<number, number>();
    const half = (a: number, b: number) => {
      const key = Math.min(a, b) * 65536 + Math.max(a, b);
      let found = between.get(key);
      if (found === undefined) {
        found = at.push(unit(add(at[a]!, at[b]!))) - 1;
        between.set(key, found);
      }
      return found;
    };
    const next: number[] = [];
    for (let k = 0; k < triangles.length; k += 3) {
      const [a, b, c] = [triangles[k]!, triangles[k + 1]!, triangles[k + 2]!];
      const [ab, bc, ca] = [half(a, b), half(b, c), half(c, a)];
      next.push(a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca);
    }
    triangles = next;
  }
  return { at, triangles };
}

// A convex body by its support points, drawn smoothly.
function addSmooth(shape: Shape, support: (d: Vec) => Vec, level: number): void {
  const { at, triangles } = directions(level);
  for (const k of triangles) {
    shape.positions.push(...support(at[k]!));
    shape.normals.push(...at[k]!);
    shape.edges.push(0, 0, 0);
  }
}

function furthest(vertices: Vec[], d: Vec): Vec {
  let best = vertices[0]!, most = -Infinity;
  for (const vertex of vertices) {
    const along = dot(vertex, d);
    if (along > most) [best, most] = [vertex, along];
  }
  return best;
}

function addBall(shape: Shape, vertices: Vec[], radius: number): void {
  if (vertices.length === 0) return;
  addSmooth(shape, (d) => add(furthest(vertices, d), scale(d, radius)), vertices.length > 1 ? 4 : 3);
}

// A cylinder (or with a top of nothing a cone) with round side and flat ends.
function addTurned(shape: Shape, [a, b, c]: Vec, isCone: boolean, sides = 48): void {
  const ring = (k: number, z: number, by = 1): Vec => {
    const angle = (2 * Math.PI * (k % sides)) / sides;
    return [a * Math.cos(angle) * by, b * Math.sin(angle) * by, z];
  };
  const smooth = (corners: Vec[], around: Vec[], rim: number[]) => corners.forEach((corner, k) => {
    shape.positions.push(...corner);
    shape.normals.push(...around[k]!);
    shape.edges.push(...rim);
  });
  const slope = isCone ? Math.max(a, b) / (2 * c) : 0;
  const out = (k: number): Vec => unit([Math.cos((2 * Math.PI * k) / sides) / a, Math.sin((2 * Math.PI * k) / sides) / b, slope / Math.max(a, b)]);
  for (let k = 0; k < sides; k++) {
    const [p, q] = [ring(k, -c), ring(k + 1, -c)];
    if (isCone) {
      smooth([[0, 0, c], p, q], [out(k + 0.5), out(k), out(k + 1)], [1, 0, 0]);
    } else {
      const [r, s] = [ring(k, c), ring(k + 1, c)];
      smooth([r, p, q], [out(k), out(k), out(k + 1)], [1, 0, 0]);
      smooth([q, s, r], [out(k + 1), out(k + 1), out(k)], [1, 0, 0]);
    }
  }
  const loop = Array.from({ length: sides }, (_, k) => ring(k, -c));
  addFacet(shape, [...loop].reverse());
  if (!isCone) addFacet(shape, loop.map(([x, y]) => [x, y, c]));
}

type Form = 'cylinder' | 'cone' | 'ellipsoid';

function curved(form: Form, half: Vec, radius: number): Shape {
  const shape = empty(radius);
  if (form === 'ellipsoid' || radius > 0) {
    addSmooth(shape, (d) => add(curvedSupport(form, half, d), scale(d, radius)), 4);
  } else {
    addTurned(shape, half, form === 'cone');
  }
  return measured(shape);
}

function curvedSupport(form: Form, [a, b, c]: Vec, d: Vec): Vec {
  if (form === 'ellipsoid') {
    const scaled: Vec = [a * d[0], b * d[1], c * d[2]];
    const length = norm(scaled) || 1;
    return [(a * scaled[0]) / length, (b * scaled[1]) / length, (c * scaled[2]) / length];
  }
  const flat = Math.hypot(a * d[0], b * d[1]) || 1;
  const rim: Vec = [(a * a * d[0]) / flat, (b * b * d[1]) / flat, 0];
  if (form === 'cylinder') return [rim[0], rim[1], d[2] >= 0 ? c : -c];
  const base: Vec = [rim[0], rim[1], -c], apex: Vec = [0, 0, c];
  return dot(base, d) > dot(apex, d) ? base : apex;
}

// A shape that is named where it is used.
export function ofRounded(given: RoundedShape): Shape {
  const s: Vec = given.scale ? [given.scale.x, given.scale.y, given.scale.z] : [1, 1, 1];
  const { core, radius } = given;
  const half = (x: number, y: number, z: number): Vec => [Math.abs(x * s[0]), Math.abs(y * s[1]), Math.abs(z * s[2])];
  const around = (xyz: number[]) => (radius > 0 ? ofCore(points(xyz), radius) : ofPoints(xyz));
  switch (core.case) {
    case 'vertices': return around(core.value.xyz.map((x, k) => x * s[k % 3]!));
    case 'length': return around([0, 0, (-core.value / 2) * s[2], 0, 0, (core.value / 2) * s[2]]);
    case 'box': {
      const [x, y, z] = half(core.value.x / 2, core.value.y / 2, core.value.z / 2);
      return around([-x, x].flatMap((i) => [-y, y].flatMap((j) => [-z, z].flatMap((k) => [i, j, k]))));
    }
    case 'halfSpace': {
      const r = Math.min(core.value.reach || 100, 100);
      return ofPoints([-r, r].flatMap((i) => [-r, r].flatMap((j) => [-0.02 * r, 0].flatMap((k) => [i, j, k]))));
    }
    case 'cylinder': return curved('cylinder', half(core.value.radiusXy, core.value.radiusXy, core.value.length / 2), radius);
    case 'cone': return curved('cone', half(core.value.radiusXy, core.value.radiusXy, core.value.length / 2), radius);
    case 'ellipsoid': return curved('ellipsoid', half(core.value.x, core.value.y, core.value.z), radius);
    default: return around([0, 0, 0]);
  }
}

function ofCore(vertices: Vec[], radius: number): Shape {
  const shape = empty(radius);
  shape.vertices = sorted(vertices);
  addBall(shape, shape.vertices, radius);
  return measured(shape);
}

// Balls around points: each a small one of few triangles, the more points the fewer.
function ofCloud(vertices: Vec[], radius: number): Shape {
  const shape = empty(radius);
  shape.vertices = vertices;
  const most = 4000, step = Math.max(1, Math.ceil(vertices.length / most));
  const { at, triangles } = directions(vertices.length < 400 ? 1 : 0);
  for (let k = 0; k < vertices.length; k += step) {
    for (const corner of triangles) {
      shape.positions.push(...add(vertices[k]!, scale(at[corner]!, radius || 0.004)));
      shape.normals.push(...at[corner]!);
      shape.edges.push(0, 0, 0);
    }
  }
  return measured(shape);
}

// A registered shape as the server describes it.
export function ofRegistered(reply: GetPolytopeResponse): Shape {
  const told = reply.polytope;
  const vertices = points(reply.vertices?.xyz ?? []), radius = told?.radius ?? 0;
  const low = told?.boundsLow, high = told?.boundsHigh;
  const half: Vec = [0, 1, 2].map((k) => {
    const [a, b] = [low, high].map((corner) => (corner ? [corner.x, corner.y, corner.z][k]! : 0));
    return Math.max((b! - a!) / 2 - radius, 1e-9);
  }) as Vec;
  const kind = told?.id.slice(0, 1);
  if (kind === 'c') return ofCloud(vertices, radius);
  if (kind === 'e') {
    // Its form is told by how much of its box it fills.
    const share = (told?.volume ?? 0) / (8 * half[0] * half[1] * half[2]);
    const form: Form = share > 0 && share < 0.4 ? 'cone' : share > 0 && share < 0.65 ? 'ellipsoid' : 'cylinder';
    return curved(form, half, radius);
  }
  if (kind === 'r') return ofCore(vertices, radius);
  const shape = empty();
  shape.vertices = vertices;
  if (reply.facets.length === 0) {
    if (vertices.length > 0) return { ...ofPoints(vertices.flat()), vertices };
    const [x, y, z] = half;
    return ofPoints([-x, x].flatMap((i) => [-y, y].flatMap((j) => [-z, z].flatMap((k) => [i, j, k]))));
  }
  if (kind === 'h') {
    addTerrain(shape, reply.facets.map((facet) => facet.vertices), vertices);
    addBackside(shape);
    return measured(shape);
  }
  for (const facet of reply.facets) addFacet(shape, facet.vertices.map((k) => vertices[k]!));
  // Of what has many faces, as scans of links, only edges that one would feel.
  if (kind === 'm' || kind === 's' || reply.facets.length > 60) hideFlatEdges(shape, reply.facets.length > 60 ? 0.5 : 0.02);
  if (told?.dimension === 2 || kind === 's') addBackside(shape);
  return measured(shape);
}

// Triangles over a grid, seen from above, whose light changes smoothly.
function addTerrain(shape: Shape, triangles: number[][], vertices: Vec[]): void {
  const around = vertices.map((): Vec => [0, 0, 0]);
  const up = triangles.map(([i, j, k]) => {
    const n = cross(sub(vertices[j!]!, vertices[i!]!), sub(vertices[k!]!, vertices[i!]!));
    const [loop, normal] = n[2] < 0 ? [[i!, k!, j!], scale(n, -1)] : [[i!, j!, k!], n];
    for (const v of loop) around[v] = add(around[v]!, normal);
    return loop;
  });
  for (const loop of up) {
    for (const v of loop) {
      shape.positions.push(...vertices[v]!);
      shape.normals.push(...unit(around[v]!));
      shape.edges.push(0, 0, 0);
    }
  }
}

// What has no inside is seen from both sides.
function addBackside(shape: Shape): void {
  const count = shape.positions.length / 9;
  for (let t = 0; t < count; t++) {
    for (const c of [0, 2, 1]) {
      const k = 9 * t + 3 * c;
      shape.positions.push(shape.positions[k]!, shape.positions[k + 1]!, shape.positions[k + 2]!);
      shape.normals.push(-shape.normals[k]!, -shape.normals[k + 1]!, -shape.normals[k + 2]!);
      const e = 9 * t;
      shape.edges.push(shape.edges[e]!, shape.edges[e + 2]!, shape.edges[e + 1]!);
    }
  }
}
