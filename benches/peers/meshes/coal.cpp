// The rows for coal, from C++: hulls, `BVHModel<OBBRSS>`, spheres and capsules. It has no first
// contacts, and no rays but as very thin bodies, which are not asked.
#include "peer.hpp"
#include <coal/BVH/BVH_model.h>
#include <coal/collision.h>
#include <coal/distance.h>
#include <coal/shape/convex.h>
using namespace coal;

static std::shared_ptr<CollisionGeometry> made(const Shape &shape) {
  size_t vertices = shape.vertices.size() / 3;
  auto points = std::make_shared<std::vector<Vec3s>>();
  for (size_t k = 0; k < vertices; k++)
    points->push_back(Vec3s(shape.vertices[3 * k], shape.vertices[3 * k + 1], shape.vertices[3 * k + 2]));
  if (shape.kind == MESH) {
    std::vector<Triangle> triangles;
    for (size_t k = 0; k < shape.triangles.size(); k += 3)
      triangles.push_back(Triangle(shape.triangles[k], shape.triangles[k + 1], shape.triangles[k + 2]));
    auto mesh = std::make_shared<BVHModel<OBBRSS>>();
    mesh->beginModel(triangles.size(), vertices);
    mesh->addSubModel(*points, triangles);
    mesh->endModel();
    mesh->computeLocalAABB();
    return mesh;
  }
  std::shared_ptr<CollisionGeometry> body;
  if (shape.kind == ROUND && vertices == 1) body = std::make_shared<Sphere>(shape.radius);
  else if (shape.kind == ROUND)
    body = std::make_shared<Capsule>(shape.radius, std::fabs((*points)[0][2] - (*points)[1][2]));
  else
    body.reset(ConvexBase::convexHull(points, vertices, true));
  body->computeLocalAABB();
  return body;
}

static Transform3s placed(const Placing &p) {
  Quatf turn(p.turn[0], p.turn[1], p.turn[2], p.turn[3]);
  return Transform3s(turn.toRotationMatrix(), Vec3s(p.at[0], p.at[1], p.at[2]));
}

int main(int count, char **words) {
  Cases cases(count, words);
  std::vector<std::shared_ptr<CollisionGeometry>> bodies;
  for (const Shape &shape : cases.shapes) bodies.push_back(made(shape));
  for (size_t number = 0; number < cases.rows.size(); number++) {
    if (!cases.wants(number)) continue;
    const Row &row = cases.rows[number];
    const CollisionGeometry *a = bodies[row.shapes[0]].get(), *b = bodies[row.shapes[1]].get();
    // The triangles of a mesh have no bounding volumes of their own to begin with.
    GJKInitialGuess guess = cases.shapes[row.shapes[1]].kind == MESH
                                ? GJKInitialGuess::DefaultGuess
                                : GJKInitialGuess::BoundingVolumeGuess;
    std::vector<Transform3s> at_a, at_b;
    for (const Place &place : row.places) {
      at_a.push_back(placed(place.a));
      at_b.push_back(placed(place.b));
    }
    if (row.asked == VERDICT) {
      CollisionRequest request;
      request.num_max_contacts = 1;
      request.enable_contact = false;
      request.gjk_initial_guess = guess;
      request.distance_upper_bound = 0;
      CollisionResult result;
      cases.time(number, [&](size_t k) {
        result.clear();
        return collide(a, at_a[k], b, at_b[k], request, result) > 0 ? 1.0 : 0.0;
      });
    } else if (row.asked == DISTANCE) {
      DistanceRequest request;
      request.enable_signed_distance = false;
      request.gjk_initial_guess = guess;
      DistanceResult result;
      cases.time(number, [&](size_t k) {
        result.clear();
        return std::max(0.0, distance(a, at_a[k], b, at_b[k], request, result));
      });
    } else if (row.asked == BUILD) {
      cases.time(number, [&](size_t) { return made(cases.shapes[row.shapes[1]]) ? 1.0 : 0.0; });
    }
  }
}
