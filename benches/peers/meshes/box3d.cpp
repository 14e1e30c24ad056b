// The rows for box3d, which computes in f32: `b3OverlapMesh`, `b3ShapeCastMesh` and
// `b3RayCastMesh`; its own functions for spheres and capsules. It has no distances to meshes, no
// first contacts with meshes that turn, and nothing between two meshes. What it takes in the frame
// of a mesh is brought there beforehand.
#include "peer.hpp"
#include <box3d/box3d.h>
#include <box3d/collision.h>

struct Body {
  std::vector<b3Vec3> points;
  float radius = 0;
  b3MeshData *mesh = nullptr;
};

static b3Vec3 vec(const double *v) { return {(float)v[0], (float)v[1], (float)v[2]}; }

static b3Transform placed(const Placing &p) {
  return {vec(p.at), {{(float)p.turn[1], (float)p.turn[2], (float)p.turn[3]}, (float)p.turn[0]}};
}

static b3MeshData *mesh_of(const Shape &shape) {
  std::vector<b3Vec3> vertices;
  for (size_t k = 0; k < shape.vertices.size(); k += 3) vertices.push_back(vec(&shape.vertices[k]));
  std::vector<int32_t> indices(shape.triangles.begin(), shape.triangles.end());
  std::vector<uint8_t> materials(indices.size() / 3, 0);
  b3MeshDef def = {};
  def.vertices = vertices.data();
  def.indices = indices.data();
  def.materialIndices = materials.data();
  def.vertexCount = vertices.size();
  def.triangleCount = indices.size() / 3;
  return b3CreateMesh(&def, nullptr, 0);
}

static Body made(const Shape &shape) {
  Body body;
  body.radius = shape.radius;
  if (shape.kind == MESH) {
    body.mesh = mesh_of(shape);
    if (!body.mesh) { fprintf(stderr, "no mesh\n"); exit(1); }
    return body;
  }
  for (size_t k = 0; k < shape.vertices.size(); k += 3) body.points.push_back(vec(&shape.vertices[k]));
  return body;
}

// Meshes.

static void of_mesh(const Cases &cases, size_t number, const Body &a, const Body &b) {
  const Row &row = cases.rows[number];
  b3Mesh mesh = {b.mesh, {1, 1, 1}};
  size_t each = a.points.size();
  std::vector<b3Vec3> points;  // in the frame of the mesh
  std::vector<b3Vec3> ways;
  for (const Place &place : row.places) {
    b3Transform in_b = b3InvMulTransforms(placed(place.b), placed(place.a));
    if (row.asked == RAY) points.push_back(in_b.p);
    else for (b3Vec3 p : a.points) points.push_back(b3TransformPoint(in_b, p));
    ways.push_back(b3InvRotateVector(placed(place.b).q, vec(place.velocity)));
  }
  if (row.asked == VERDICT) {
    cases.time(number, [&](size_t k) {
      b3ShapeProxy proxy = {&points[each * k], (int)each, 0.0f};
      return b3OverlapMesh(&mesh, b3Transform_identity, &proxy) ? 1.0 : 0.0;
    });
  } else if (row.asked == STRAIGHT) {
    cases.time(number, [&](size_t k) {
      b3ShapeCastInput input = {{&points[each * k], (int)each, 0.0f}, ways[k], 1.0f, false};
      b3CastOutput found = b3ShapeCastMesh(&mesh, &input);
      return found.hit ? (double)found.fraction : INFINITY;
    });
  } else if (row.asked == RAY) {
    cases.time(number, [&](size_t k) {
      b3RayCastInput input = {points[k], ways[k], 1.0f};
      b3CastOutput found = b3RayCastMesh(&mesh, &input);
      return found.hit ? (double)found.fraction : INFINITY;
    });
  }
}

// Balls and capsules.

static double collide(const Body &a, const Body &b, b3Transform b_in_a) {
  b3LocalManifoldPoint points[4];
  b3LocalManifold manifold = {};
  manifold.points = points;
  auto sphere = [](const Body &body) { return b3Sphere{body.points[0], body.radius}; };
  auto capsule = [](const Body &body) { return b3Capsule{body.points[0], body.points[1], body.radius}; };
  if (b.points.size() == 1) {
    b3Sphere p = sphere(a), q = sphere(b);
    b3CollideSpheres(&manifold, 4, &p, &q, b_in_a);
  } else if (a.points.size() == 1) {
    b3Sphere p = sphere(a);
    b3Capsule q = capsule(b);
    b3CollideCapsuleAndSphere(&manifold, 4, &q, &p, b_in_a);
  } else {
    b3Capsule p = capsule(a), q = capsule(b);
    b3CollideCapsules(&manifold, 4, &p, &q, b_in_a);
  }
  // Points that are only near are told as well.
  for (int k = 0; k < manifold.pointCount; k++)
    if (points[k].separation <= 0) return 1.0;
  return 0.0;
}

static void of_rounded(const Cases &cases, size_t number, const Body &a, const Body &b) {
  const Row &row = cases.rows[number];
  bool is_swapped = a.points.size() < b.points.size();
  std::vector<b3Transform> b_in_a, of_collide;
  std::vector<b3Vec3> ways;
  for (const Place &place : row.places) {
    b3Transform p = placed(place.a), q = placed(place.b);
    b_in_a.push_back(b3InvMulTransforms(p, q));
    of_collide.push_back(is_swapped ? b3InvMulTransforms(q, p) : b_in_a.back());
    b3Vec3 way = vec(place.velocity);
    ways.push_back(b3InvRotateVector(p.q, b3Vec3{-way.x, -way.y, -way.z}));
  }
  b3ShapeProxy p = {a.points.data(), (int)a.points.size(), a.radius};
  b3ShapeProxy q = {b.points.data(), (int)b.points.size(), b.radius};
  if (row.asked == VERDICT) {
    cases.time(number, [&](size_t k) { return collide(a, b, of_collide[k]); });
  } else if (row.asked == DISTANCE) {
    cases.time(number, [&](size_t k) {
      b3DistanceInput input = {p, q, b_in_a[k], true};
      b3SimplexCache cache = {};
      return (double)b3ShapeDistance(&input, &cache, nullptr, 0).distance;
    });
  } else if (row.asked == STRAIGHT) {
    cases.time(number, [&](size_t k) {
      b3ShapeCastPairInput input = {p, q, b_in_a[k], ways[k], 1.0f, false};
      b3CastOutput found = b3ShapeCast(&input);
      return found.hit ? (double)found.fraction : INFINITY;
    });
  }
}

int main(int count, char **words) {
  Cases cases(count, words);
  std::vector<Body> bodies;
  for (const Shape &shape : cases.shapes) bodies.push_back(made(shape));
  for (size_t number = 0; number < cases.rows.size(); number++) {
    if (!cases.wants(number)) continue;
    const Row &row = cases.rows[number];
    const Body &a = bodies[row.shapes[0]], &b = bodies[row.shapes[1]];
    const Shape &of_b = cases.shapes[row.shapes[1]];
    if (row.asked == BUILD)
      cases.time(number, [&](size_t) { b3DestroyMesh(mesh_of(of_b)); return 0.0; });
    else if (b.mesh && !a.mesh) of_mesh(cases, number, a, b);
    else if (!b.mesh && !a.mesh) of_rounded(cases, number, a, b);
  }
}
