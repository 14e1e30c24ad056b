// Certificates as things to look at: planes between bodies, vertices whose hull has a common point, chains of planes.
import type { CurvedHulls, CurvedProof, DistanceCertificate, FaceCover, MotionCertificate, PartDistanceProof, StaticCertificate, SolidProof,
  RoundedProof } from '../gen/clearance/v1/certificate_pb.js';
import { DirectionFrame } from '../gen/clearance/v1/certificate_pb.js';
import { type Direction, type VertexPair, Axis } from '../gen/clearance/v1/geometry_pb.js';
import { type Placement, type Vec, add, cross, dot, mid, norm, placed, product, scale, sub, transposed, turned, unit } from './math.js';

// A body of a pair, as a certificate speaks of it: of each part the vertices in the world, and the radius around them.
export interface Side {
  parts: { vertices: Vec[]; radius: number; place: Placement }[];
  centre: Vec;
  reach: number;
}

export interface Plane {
  centre: Vec;
  normal: Vec;
  size: number;
  // The gap along the normal, metres.
  gap: number;
  // Of a motion: for which times it stands there.
  span?: [number, number];
}

export interface Drawing {
  planes: Plane[];
  vertices: { at: Vec; side: 0 | 1 }[];
  links: [Vec, Vec, 0 | 1 | 2][];
  // A point that both bodies have.
  common?: Vec;
  // What is proven, in words.
  text: string[];
  chain: { span: [number, number]; frame: string }[];
}

export const nothing = (): Drawing => ({ planes: [], vertices: [], links: [], text: [], chain: [] });

const AXES: Record<number, Vec> = { [Axis.X]: [1, 0, 0], [Axis.Y]: [0, 1, 0], [Axis.Z]: [0, 0, 1] };

type Lists = [Vec[], Vec[]];

const difference = ([p, q]: Lists, pair: VertexPair): Vec | undefined => {
  const [a, b] = [p[pair.i], q[pair.j]];
  return a && b && sub(b, a);
};

// The direction of a certificate as numbers; nothing if it names vertices that are not known.
export function directionOf(direction: Direction | undefined, lists: Lists, travel?: Vec): Vec | undefined {
  const { form } = direction ?? {};
  if (!form?.case) return undefined;
  if (form.case === 'vector') return [form.value.x, form.value.y, form.value.z];
  const found = form.value.pairs.map((pair) => difference(lists, pair));
  if (found.some((d) => !d)) return undefined;
  const d = found as Vec[];
  const sign = form.value.negative ? -1 : 1;
  let s: Vec | undefined;
  if (form.case === 'normal') s = cross(sub(d[1]!, d[0]!), sub(d[2]!, d[0]!));
  else if (form.case === 'edgeNormal') s = cross(sub(d[1]!, d[0]!), AXES[form.value.axis] ?? [0, 0, 1]);
  else if (form.case === 'sweptNormal') {
    if (!travel) return undefined;
    s = d.length === 2 ? cross(sub(d[1]!, d[0]!), travel) : cross(travel, AXES[form.value.axis] ?? [0, 0, 1]);
  } else s = nearestToOrigin(d);
  return s && scale(s, sign);
}

// The point nearest the origin in the hull of one to three points.
export function nearestToOrigin(d: Vec[]): Vec | undefined {
  if (d.length === 0) return undefined;
  let best = d[0]!;
  const offer = (v: Vec) => { if (norm(v) < norm(best)) best = v; };
  d.forEach(offer);
  for (let i = 0; i < d.length; i++) {
    for (let j = i + 1; j < d.length; j++) {
      const e = sub(d[j]!, d[i]!), t = -dot(d[i]!, e) / (dot(e, e) || 1);
      if (t > 0 && t < 1) offer(add(d[i]!, scale(e, t)));
    }
  }
  if (d.length === 3) {
    const n = cross(sub(d[1]!, d[0]!), sub(d[2]!, d[0]!)), v = scale(n, dot(d[0]!, n) / (dot(n, n) || 1));
    const inside = [0, 1, 2].every((k) => dot(cross(sub(d[(k + 1) % 3]!, d[k]!), sub(v, d[k]!)), n) >= 0);
    if (inside) offer(v);
  }
  return best;
}

// How far bodies reach along a direction of length 1, and least far.
function reaches(side: Side, which: number[], s: Vec): { low: number; high: number } {
  let low = Infinity, high = -Infinity;
  for (const k of which.length > 0 ? which : side.parts.keys()) {
    const part = side.parts[k];
    for (const vertex of part?.vertices ?? []) {
      const along = dot(vertex, s);
      low = Math.min(low, along - part!.radius);
      high = Math.max(high, along + part!.radius);
    }
  }
  return { low, high };
}

// The plane half way between two bodies, square to a direction from P to Q.
function planeBetween(p: Side, q: Side, pParts: number[], qParts: number[], direction: Vec, near?: Vec): Plane | undefined {
  if (!(norm(direction) > 0)) return undefined;
  const normal = unit(direction);
  const high = reaches(p, pParts, normal).high, low = reaches(q, qParts, normal).low;
  if (!Number.isFinite(high) || !Number.isFinite(low)) return undefined;
  const from = near ?? mid(p.centre, q.centre);
  const centre = add(from, scale(normal, (high + low) / 2 - dot(from, normal)));
  const size = 0.95 * Math.min(p.reach, q.reach) + 0.2 * Math.min(Math.max(p.reach, q.reach), 2 * Math.min(p.reach, q.reach));
  return { centre, normal, size, gap: low - high };
}

const listsOf = (p: Side, q: Side, i = 0, j = 0): Lists => [p.parts[i]?.vertices ?? [], q.parts[j]?.vertices ?? []];

export const metres = (x: number): string => {
  const size = Math.abs(x);
  if (size < 1e-3) return `${(x * 1e6).toPrecision(3)} µm`;
  return size < 1 ? `${(x * 1e3).toPrecision(4)} mm` : `${x.toPrecision(4)} m`;
};

export class Prover {
  readonly out = nothing();
  constructor(private p: Side, private q: Side, private near?: Vec) {}

  private plane(direction: Vec | undefined, pParts: number[] = [], qParts: number[] = [], said = true): void {
    if (!direction || this.out.planes.length >= 24) return;
    const plane = planeBetween(this.p, this.q, pParts, qParts, direction, this.near);
    if (!plane) return;
    this.out.planes.push(plane);
    if (said) this.out.text.push(`A plane has the two on its two sides; along its normal ${metres(plane.gap)} are between them.`);
  }

  // Vertices of both, and the point that the two hulls of them have in common.
  private overlap(pairs: VertexPair[], lists: Lists): void {
    const ends = pairs.map((pair) => [lists[0][pair.i], lists[1][pair.j]] as const);
    if (ends.some(([a, b]) => !a || !b)) return;
    const [ps, qs] = [ends.map(([a]) => a!), ends.map(([, b]) => b!)];
    this.vertices(ps, 0);
    this.vertices(qs, 1);
    const weights = weightsOfOrigin(ends.map(([a, b]) => sub(b!, a!)));
    if (weights) this.out.common = ps.reduce((sum, v, k) => add(sum, scale(v, weights[k]!)), [0, 0, 0] as Vec);
  }

  private vertices(list: Vec[], side: 0 | 1): void {
    const distinct = list.filter((v, k) => list.findIndex((w) => norm(sub(v, w)) === 0) === k);
    for (const at of distinct) this.out.vertices.push({ at, side });
    for (let i = 0; i < distinct.length; i++) {
      for (let j = i + 1; j < distinct.length; j++) this.out.links.push([distinct[i]!, distinct[j]!, side]);
    }
  }

  private pairs(pairs: VertexPair[], lists: Lists): void {
    for (const pair of pairs) {
      const [a, b] = [lists[0][pair.i], lists[1][pair.j]];
      if (!a || !b) continue;
      this.out.vertices.push({ at: a, side: 0 }, { at: b, side: 1 });
      if (pairs.length === 1) this.out.links.push([a, b, 2]);
    }
  }

  verdict(given: StaticCertificate | undefined, pParts: number[] = [], qParts: number[] = []): void {
    const proof = given?.proof;
    const lists = listsOf(this.p, this.q, pParts[0], qParts[0]);
    switch (proof?.case) {
      case 'separated':
        this.plane(directionOf(proof.value.direction, lists), pParts, qParts);
        break;
      case 'touching':
        this.plane(directionOf(proof.value.direction, lists), pParts, qParts, false);
        this.pairs(proof.value.pairs, lists);
        this.out.text.push(`They touch: a plane has them on its two sides, and ${proof.value.pairs.length} vertex pairs show a point in common.`);
        break;
      case 'overlapping':
        this.overlap(proof.value.pairs, lists);
        this.out.text.push(`They overlap: ${proof.value.pairs.length} vertices of each span hulls with an inner point in common.`);
        break;
      case 'compound': {
        const { entries } = proof.value;
        for (const entry of entries.slice(0, 12)) this.verdict(entry.certificate, entry.pParts, entry.qParts);
        if (entries.length > 1) this.out.text = [`${entries.length} proofs together cover all pairs of their parts.`, ...this.out.text.slice(0, 2)];
        break;
      }
      case 'rounded': this.rounded(proof.value, lists, pParts, qParts); break;
      case 'solid': this.solid(proof.value, lists); break;
      case 'curved': this.curved(proof.value); break;
      default: break;
    }
  }

  private rounded(proof: RoundedProof, lists: Lists, pParts: number[], qParts: number[]): void {
    const v = nearestToOrigin(proof.pairs.slice(0, 3).map((pair) => difference(lists, pair)).filter((d): d is Vec => !!d));
    if (proof.cover) this.cover(proof.cover, lists);
    else if (v && norm(v) > 0) this.plane(v, pParts, qParts, proof.verdict === 1);
    this.pairs(proof.pairs, lists);
    if (v) this.out.text.push(`${proof.pairs.length} vertex pairs name the nearest points of what is rounded: ${metres(norm(v))} apart, beside radii of ${metres(this.radii())}.`);
  }

  private radii(): number { return (this.p.parts[0]?.radius ?? 0) + (this.q.parts[0]?.radius ?? 0); }

  private solid(proof: SolidProof, lists: Lists): void {
    const { proof: held } = proof;
    if (held.case === 'separated') this.cover(held.value, lists);
    else if (held.case === 'crossing') {
      this.vertices(held.value.p.map((k) => lists[0][k]!).filter(Boolean), 0);
      this.vertices(held.value.q.map((k) => lists[1][k]!).filter(Boolean), 1);
      this.out.text.push('Two of their triangles cross: the corners are shown.');
    } else if (held.case === 'innerPoint') {
      const { point: a, offset: b } = held.value;
      this.out.common = [(a?.x ?? 0) + (b?.x ?? 0), (a?.y ?? 0) + (b?.y ?? 0), (a?.z ?? 0) + (b?.z ?? 0)];
      this.out.text.push('A point is strictly inside both.');
    } else if (held.case === 'overlappingPieces') this.overlap(held.value.pairs, lists);
    else if (held.case === 'touchingPieces') this.pairs(held.value.pairs, lists);
  }

  // Of a cover the directions of its steps, each once.
  private cover(cover: FaceCover, lists: Lists): void {
    const seen = new Set<string>();
    for (const step of cover.steps) {
      const direction = directionOf(step.chain[0]?.direction, lists);
      if (!direction) continue;
      const key = unit(direction).map((x) => x.toFixed(2)).join();
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size <= 6) this.out.planes.push(...this.through(direction));
    }
    this.out.text.push(`Their faces are halved until ${cover.steps.filter((step) => step.chain.length > 0).length} directions separate all that is left of each.`);
  }

  private through(direction: Vec): Plane[] {
    const normal = unit(direction), centre = this.near ?? mid(this.p.centre, this.q.centre);
    return [{ centre, normal, size: 0.8 * Math.min(this.p.reach, this.q.reach), gap: NaN }];
  }

  private curved(proof: CurvedProof): void {
    const side = proof.outer[0] ?? proof.inner[0];
    if (!side) return;
    const isOuter = proof.outer.length > 0;
    const inner = new Prover(instead(this.p, proof.p, isOuter), instead(this.q, proof.q, isOuter), this.near);
    const held = side.certificate;
    if (held.case === 'collision') inner.verdict(held.value);
    else if (held.case === 'distance') inner.distance(held.value);
    else if (held.case === 'penetration') inner.verdict(held.value.verdict);
    Object.assign(this.out, inner.out);
    this.out.text.unshift(`Of polytopes ${isOuter ? 'around' : 'in'} what is curved:`);
  }

  // Where the nearest points are, and the plane square to the way between them.
  distance(given: DistanceCertificate | undefined): void {
    if (!given) return;
    if (given.parts.length > 0) {
      this.parts(given.parts);
      return;
    }
    const lists = listsOf(this.p, this.q);
    const v = nearestToOrigin(given.pairs.map((pair) => difference(lists, pair)).filter((d): d is Vec => !!d));
    if (v && given.verdict?.proof.case !== 'curved' && given.verdict?.proof.case !== 'solid') {
      this.plane(v);
      this.pairs(given.pairs, lists);
      this.out.text.push(`${given.pairs.length} vertex ${given.pairs.length === 1 ? 'pair names' : 'pairs name'} the nearest points, ${metres(norm(v) - this.radii())} apart; nothing is nearer along that way.`);
    } else this.verdict(given.verdict);
  }

  // Of bodies of several parts: no two of them are nearer, and the first two are as near.
  private parts(entries: PartDistanceProof[]): void {
    for (const [k, entry] of entries.slice(0, 12).entries()) {
      const lists = listsOf(this.p, this.q, entry.pParts[0], entry.qParts[0]);
      const v = nearestToOrigin(entry.pairs.map((pair) => difference(lists, pair)).filter((d): d is Vec => !!d));
      if (k > 0 && entries.length > 6) continue;
      this.plane(v ?? directionOf(entry.direction, lists), entry.pParts, entry.qParts, false);
      if (k === 0 && v) {
        this.pairs(entry.pairs, lists);
        this.out.text.push(`A plane square to the way between their nearest points has them on its two sides, ${metres(norm(v))} apart.`);
      }
    }
    if (entries.length > 1) this.out.text.push(`${entries.length} such proofs cover all pairs of their parts.`);
  }

  // A chain of planes along a motion, each where the bodies are in the middle of its time.
  motion(given: MotionCertificate | undefined, when: (t: number) => [Side, Side, Placement, Placement]): void {
    if (!given) return;
    const chain = given.chain.length > 0 ? given.chain : given.parts.flatMap((part) => part.certificate?.chain ?? []);
    const [p0, q0, pAt, qAt] = when(0), [p1, q1] = when(1);
    const travel = sub(sub(q1.centre, q0.centre), sub(p1.centre, p0.centre));
    for (const link of chain) {
      this.out.chain.push({ span: [link.t0, link.t1], frame: FRAMES[link.frame] ?? 'the world' });
      if (this.out.planes.length >= 16) continue;
      let s = directionOf(link.direction, listsOf(p0, q0), travel);
      if (!s) continue;
      const t = (link.t0 + link.t1) / 2;
      const [p, q, pThen, qThen] = when(t);
      if (link.frame === DirectionFrame.P) s = turned(product(pThen.turn, transposed(pAt.turn)), s);
      if (link.frame === DirectionFrame.Q) s = turned(product(qThen.turn, transposed(qAt.turn)), s);
      const plane = planeBetween(p, q, [], [], s);
      if (plane) this.out.planes.push({ ...plane, span: [link.t0, link.t1] });
    }
    if (chain.length > 0) {
      this.out.text.push(`A chain of ${chain.length} ${chain.length === 1 ? 'plane' : 'planes'} proves the way free up to t = ${Math.max(...chain.map((link) => link.t1)).toPrecision(6)}.`);
    }
  }
}

const FRAMES: Record<number, string> = { [DirectionFrame.WORLD]: 'the world', [DirectionFrame.P]: 'the first body', [DirectionFrame.Q]: 'the second body' };

// The polytope around a curved body, or in it, in its place.
function instead(side: Side, hulls: CurvedHulls | undefined, isOuter: boolean): Side {
  const xyz = (isOuter ? hulls?.outer : hulls?.inner)?.xyz;
  if (!xyz || side.parts.length === 0) return side;
  const part = side.parts[0]!, vertices: Vec[] = [];
  for (let k = 0; k + 2 < xyz.length; k += 3) vertices.push(placed(part.place, [xyz[k]!, xyz[k + 1]!, xyz[k + 2]!]));
  return { ...side, parts: [{ ...part, vertices }, ...side.parts.slice(1)] };
}

// Weights, none negative, that bring the origin out of four of the points; the first four that do.
function weightsOfOrigin(d: Vec[]): number[] | undefined {
  const choose = d.length <= 4 ? [d.map((_, k) => k)] : combinations(d.length, 4);
  for (const picked of choose) {
    const weights = barycentric(picked.map((k) => d[k]!));
    if (weights && weights.every((w) => w >= -1e-9)) {
      const out = d.map(() => 0);
      picked.forEach((k, at) => { out[k] = weights[at]!; });
      return out;
    }
  }
  return undefined;
}

function combinations(n: number, k: number): number[][] {
  if (k === 0) return [[]];
  if (n < k) return [];
  return [...combinations(n - 1, k), ...combinations(n - 1, k - 1).map((rest) => [...rest, n - 1])];
}

function barycentric(d: Vec[]): number[] | undefined {
  if (d.length !== 4) return undefined;
  const volume = (a: Vec, b: Vec, c: Vec) => dot(a, cross(b, c));
  const [a, b, c, e] = d as [Vec, Vec, Vec, Vec];
  const all = volume(sub(b, a), sub(c, a), sub(e, a));
  if (all === 0) return undefined;
  return [volume(b, c, e) / all, -volume(a, c, e) / all, volume(a, b, e) / all, -volume(a, b, c) / all];
}

