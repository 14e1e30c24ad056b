// What the programs of the peers have in common: the file of bodies and rows (src/case.rs says how
// it is written), and the loop that times a row as src/timing.rs does.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <time.h>
#include <vector>

enum Kind : uint32_t { HULL, MESH, ROUND };
enum Asked : uint32_t { VERDICT, DISTANCE, STRAIGHT, TURNING, RAY, BUILD };

struct Shape {
  uint32_t kind;
  double radius;
  std::vector<double> vertices;
  std::vector<uint32_t> triangles;
};
struct Placing { double at[3], turn[4]; };  // w first
struct Place { Placing a, b; double velocity[3], spin[3]; };
struct Row {
  uint32_t asked, shapes[2];
  std::vector<Place> places;
  std::vector<double> right;
};

inline double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

struct Cases {
  std::vector<Shape> shapes;
  std::vector<Row> rows;
  std::string only;

  Cases(int count, char **words) {
    if (count < 2) { fprintf(stderr, "which file?\n"); exit(2); }
    FILE *file = fopen(words[1], "rb");
    if (!file) { perror(words[1]); exit(2); }
    if (count > 2) only = "," + std::string(words[2]) + ",";
    auto read = [&](void *to, size_t bytes) {
      if (bytes && fread(to, 1, bytes, file) != bytes) { fprintf(stderr, "too short\n"); exit(2); }
    };
    auto word = [&] { uint32_t n; read(&n, 4); return n; };
    char magic[4];
    read(magic, 4);
    if (memcmp(magic, "CLP1", 4)) { fprintf(stderr, "another kind of file\n"); exit(2); }
    shapes.resize(word());
    for (Shape &shape : shapes) {
      shape.kind = word();
      read(&shape.radius, 8);
      shape.vertices.resize(3 * word());
      read(shape.vertices.data(), 8 * shape.vertices.size());
      shape.triangles.resize(3 * word());
      read(shape.triangles.data(), 4 * shape.triangles.size());
    }
    rows.resize(word());
    for (Row &row : rows) {
      row.asked = word();
      for (uint32_t &shape : row.shapes) shape = word();
      row.places.resize(word());
      row.right.resize(row.places.size());
      read(row.places.data(), sizeof(Place) * row.places.size());
      read(row.right.data(), 8 * row.right.size());
    }
    fclose(file);
  }

  bool wants(size_t row) const {
    return only.empty() || only.find("," + std::to_string(row) + ",") != std::string::npos;
  }

  template <class Ask> void time(size_t number, Ask ask) const {
    const Row &row = rows[number];
    const double too_long = 0.4, enough = 0.06;
    const double slack = row.asked == DISTANCE ? 1e-4 : 1e-3;
    size_t wrong = 0, off = 0, asked = 0;
    double start = thread_seconds();
    for (; asked < row.places.size();) {
      double found = ask(asked), right = row.right[asked];
      bool other = std::isfinite(found) != std::isfinite(right);
      if (row.asked == VERDICT) other = found != right;
      if (row.asked == DISTANCE) other = (found > 0) != (right > 0) && std::fabs(found - right) > slack;
      if (row.asked != BUILD) wrong += other, off += !other && std::fabs(found - right) > slack;
      if (++asked >= 3 && thread_seconds() - start > too_long) break;
    }
    double once = thread_seconds() - start, microseconds = once * 1e6 / asked;
    if (once <= too_long) {
      size_t passes = 0;
      start = thread_seconds();
      volatile double kept;
      do {
        for (size_t k = 0; k < row.places.size(); k++) kept = ask(k);
        passes++;
      } while (thread_seconds() - start <= enough);
      (void)kept;
      microseconds = (thread_seconds() - start) * 1e6 / (passes * asked);
    }
    printf("%zu %.6f %zu %zu %zu\n", number, microseconds, wrong, off, asked);
    fflush(stdout);
  }
};
