//! Rapier on the scenes of the bench `wire`: in process, one thread, f64, sensors (whether bodies
//! intersect; no contact points, no dynamics). Takes the same words and prints figures of the same
//! units, a line each.
//!
//! ```text
//! cargo build --release && target/release/rapier-scenes 10000:1 10000:0 rays:10000 hulls:10000
//! target/release/rapier-scenes terrain:1024 terrain:1024:casts
//! ```
use rapier3d_f64::parry::query::ShapeCastOptions;
use rapier3d_f64::prelude::*;

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64) / ((1u64 << 53) as f64)
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (self.unit().max(1e-12), self.unit());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    fn vector(&mut self) -> Vector {
        Vector::new(self.normal(), self.normal(), self.normal())
    }

    fn direction(&mut self) -> Vector {
        self.vector().normalize()
    }
}

/// Processor time of this process, seconds.
fn spent() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    };
    tasks.filter_map(|task| of(task.unwrap())).sum::<f64>() * 1e-9
}

struct Scene {
    random: Random,
    shapes: Vec<SharedShape>,
    side: f64,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    islands: IslandManager,
    broad: BroadPhaseBvh,
    narrow: NarrowPhase,
    pipeline: CollisionPipeline,
    handles: Vec<ColliderHandle>,
}

impl Scene {
    fn of(count: usize) -> Self {
        let mut random = Random(7);
        let hull = |r: &mut Random| {
            let count = 30 + (r.unit() * 121.0) as usize;
            let s = [0.6 + 0.4 * r.unit(), 0.6 + 0.4 * r.unit(), 0.6 + 0.4 * r.unit()];
            let point = |r: &mut Random| {
                let v = r.direction();
                Vector::new(v.x * s[0], v.y * s[1], v.z * s[2])
            };
            let points: Vec<Vector> = (0..count).map(|_| point(r)).collect();
            SharedShape::convex_hull(&points).unwrap()
        };
        let shapes: Vec<SharedShape> = (0..20).map(|_| hull(&mut random)).collect();
        let ball = 4.0 / 3.0 * std::f64::consts::PI * 1.7f64.powi(3);
        let side = (count as f64 * ball / 2.0).cbrt();
        let mut colliders = ColliderSet::new();
        let handles = (0..count)
            .map(|i| {
                let r = &mut random;
                let place = Vector::new(r.unit() * side, r.unit() * side, r.unit() * side);
                let collider = ColliderBuilder::new(shapes[i % 20].clone())
                    .translation(place)
                    .rotation(r.vector())
                    .active_collision_types(ActiveCollisionTypes::all())
                    .sensor(true);
                colliders.insert(collider.build())
            })
            .collect();
        let mut scene = Self {
            random,
            shapes,
            side,
            bodies: RigidBodySet::new(),
            colliders,
            islands: IslandManager::new(),
            broad: BroadPhaseBvh::new(),
            narrow: NarrowPhase::new(),
            pipeline: CollisionPipeline::new(),
            handles,
        };
        scene.step();
        scene
    }

    fn step(&mut self) {
        self.pipeline.step(
            0.0,
            &mut self.islands,
            &mut self.broad,
            &mut self.narrow,
            &mut self.bodies,
            &mut self.colliders,
            &(),
            &(),
        );
    }
}

/// Frames of which a share of the bodies moves, `pace` hundredths of their size.
fn frames(count: usize, moving: f64, pace: f64) {
    let mut scene = Scene::of(count);
    let velocities: Vec<Vector> =
        (0..count).map(|_| scene.random.direction() * (0.017 * pace)).collect();
    let spins: Vec<Rotation> = (0..count)
        .map(|_| Rotation::from_scaled_axis(scene.random.direction() * (0.035 * pace)))
        .collect();
    let (frames, warm) = (if count >= 10_000 { 40 } else { 200 }, 4);
    let movers = (count as f64 * moving) as usize;
    let mut total = 0.0;
    for frame in 0..frames {
        let start = spent();
        for j in 0..movers {
            let i = if moving < 1.0 { (j * count / movers + frame) % count } else { j };
            let collider = &mut scene.colliders[scene.handles[i]];
            let pose = *collider.position();
            let turned = spins[i] * pose.rotation;
            collider.set_position(Pose::from_parts(pose.translation + velocities[i], turned));
        }
        scene.step();
        if frame >= warm {
            total += spent() - start;
        }
    }
    println!("frame, us {:.1}", total / (frames - warm) as f64 * 1e6);
}

/// Rays or hulls through a scene that stands still, as many a second as one processor answers.
fn casts(kind: &str, count: usize) {
    let mut scene = Scene::of(count);
    let (narrow, side) = (&scene.narrow, scene.side);
    let filter = QueryFilter::default();
    let queries = scene.broad.as_query_pipeline(
        narrow.query_dispatcher(),
        &scene.bodies,
        &scene.colliders,
        filter,
    );
    let lengths = [("8.5 m", 8.5), ("through all", side)];
    let lengths = if kind == "rays" { &lengths[..] } else { &lengths[..1] };
    for &(name, length) in lengths {
        let asked = if kind == "rays" { 100_000 } else { 10_000 };
        let r = &mut scene.random;
        let mut way = || {
            let from = Vector::new(r.unit() * side, r.unit() * side, r.unit() * side);
            (from, r.direction())
        };
        let ways: Vec<(Vector, Vector)> = (0..asked).map(|_| way()).collect();
        let start = spent();
        let met = |(from, direction): &(Vector, Vector)| {
            if kind == "rays" {
                let ray = Ray::new(*from, *direction);
                return queries.cast_ray_and_get_normal(&ray, length, true).is_some();
            }
            let options = ShapeCastOptions {
                max_time_of_impact: 1.0,
                stop_at_penetration: true,
                ..ShapeCastOptions::default()
            };
            let pose = Pose::from_parts(*from, Rotation::IDENTITY);
            queries.cast_shape(&pose, *direction * length, &*scene.shapes[3], options).is_some()
        };
        let met = ways.iter().filter(|way| met(way)).count();
        println!("{kind} of {name}, a second {:.1}", asked as f64 / (spent() - start));
        println!("{kind} of {name}, share that met, % {:.1}", met as f64 / asked as f64 * 100.0);
    }
}

/// The scene of the bench `terrain`: bodies of a game over a height field, by contacts, since
/// Rapier does not tell whether a sensor meets a height field. With `casts` all bodies are cast
/// along their ways as well, to see what they meet between frames.
fn terrain(side: usize, casts: bool) {
    const SPACING: f64 = 0.25;
    const STEP: f64 = 1.0 / 60.0;
    let classes = [(400, 0.1, 200.0), (400, 0.2, 60.0), (1200, 1.0, 6.0)];
    // Up is y here: (x, y, z) there is (x, z, -y).
    let turned = |v: [f64; 3]| Vector::new(v[0], v[2], -v[1]);
    let hill = |x: f64, y: f64| {
        1.5 * (x / 9.0).sin() * (y / 13.0).cos() + 0.4 * (x / 2.3 + y / 3.1).sin()
    };
    let wide = (side - 1) as f64 * SPACING;
    let r = &mut Random(5);
    let mut heights = vec![0.0; side * side];
    for row in 0..side {
        for column in 0..side {
            let (x, y) = (column as f64 * SPACING, row as f64 * SPACING);
            heights[row * side + column] = hill(x, y) + 0.1 * r.unit();
        }
    }
    let at = |row: usize, column: usize| heights[(side - 1 - row) * side + column];
    let columns = (0..side).flat_map(|column| (0..side).map(move |row| at(row, column)));
    let grid = Array2::new(side, side, columns.collect());
    let r = &mut Random(7);
    let ball = |r: &mut Random| loop {
        let v = [0; 3].map(|_| 2.0 * r.unit() - 1.0);
        let squared: f64 = v.iter().map(|c| c * c).sum();
        if (0.01..1.0).contains(&squared) {
            break v.map(|c| c / squared.sqrt());
        }
    };
    let mut shapes = Vec::new();
    for (_, radius, _) in classes {
        for _ in 0..20 {
            let count = 30 + (r.unit() * 121.0) as usize;
            let scale = [0; 3].map(|_| (0.6 + 0.4 * r.unit()) * radius);
            let point = |r: &mut Random| {
                let v = ball(r);
                turned([v[0] * scale[0], v[1] * scale[1], v[2] * scale[2]])
            };
            let points: Vec<Vector> = (0..count).map(|_| point(r)).collect();
            shapes.push(SharedShape::convex_hull(&points).unwrap());
        }
    }
    struct Mover {
        place: [f64; 3],
        velocity: [f64; 3],
        above: Option<f64>,
        axis: Vector,
        angle: f64,
        spin: f64,
        handle: ColliderHandle,
        shape: usize,
    }
    let mut scene = Scene::of(0);
    let groups = |own, others| InteractionGroups::new(own, others, Default::default());
    let ground = ColliderBuilder::heightfield(grid, Vector::new(wide, 1.0, wide))
        .translation(Vector::new(wide / 2.0, 0.0, -wide / 2.0))
        .active_collision_types(ActiveCollisionTypes::all())
        .collision_groups(groups(Group::GROUP_1, Group::GROUP_2));
    let ground = scene.colliders.insert(ground.build());
    let mut movers = Vec::new();
    for (class, (count, radius, speed)) in classes.into_iter().enumerate() {
        for index in 0..count {
            let rolls = class == 2;
            let place =
                [1.0 + r.unit() * (wide - 2.0), 1.0 + r.unit() * (wide - 2.0), r.unit() * 24.0];
            let mut velocity = ball(r).map(|c| c * speed);
            let above = rolls.then(|| 0.5 + r.unit());
            if rolls {
                velocity[2] = 0.0;
                let slower = 0.1 + 0.9 * r.unit();
                velocity = velocity.map(|c| c * slower);
            }
            let axis = turned(ball(r));
            let length = velocity.iter().map(|c| c * c).sum::<f64>().sqrt();
            let spin = if rolls { length / radius * STEP } else { 0.1 };
            let shape = class * 20 + index % 20;
            let collider = ColliderBuilder::new(shapes[shape].clone())
                .translation(turned(place))
                .active_collision_types(ActiveCollisionTypes::all())
                .collision_groups(groups(Group::GROUP_2, Group::GROUP_1));
            let handle = scene.colliders.insert(collider.build());
            let angle = 0.0;
            movers.push(Mover { place, velocity, above, axis, angle, spin, handle, shape });
        }
    }
    scene.step();
    let (frames, mut times, mut met) = (120, Vec::new(), 0);
    for _ in 0..frames {
        let before: Vec<Pose> =
            movers.iter().map(|mover| *scene.colliders[mover.handle].position()).collect();
        for mover in &mut movers {
            let ends = [(1.0, wide - 1.0), (1.0, wide - 1.0), (-1.0, 24.0)];
            for (axis, (low, high)) in ends.into_iter().enumerate() {
                mover.place[axis] += mover.velocity[axis] * STEP;
                if mover.place[axis] < low && mover.velocity[axis] < 0.0
                    || mover.place[axis] > high && mover.velocity[axis] > 0.0
                {
                    mover.velocity[axis] = -mover.velocity[axis];
                }
            }
            if let Some(above) = mover.above {
                mover.place[2] = hill(mover.place[0], mover.place[1]) + above;
            }
            mover.angle += mover.spin;
        }
        let start = spent();
        for mover in &movers {
            let turn = Rotation::from_scaled_axis(mover.axis * mover.angle);
            let pose = Pose::from_parts(turned(mover.place), turn);
            scene.colliders[mover.handle].set_position(pose);
        }
        scene.step();
        if casts {
            let of_ground = &scene.colliders[ground];
            for (mover, before) in movers.iter().zip(&before) {
                let way = turned(mover.place) - before.translation;
                let options = ShapeCastOptions {
                    max_time_of_impact: 1.0,
                    stop_at_penetration: true,
                    ..ShapeCastOptions::default()
                };
                let found = rapier3d_f64::parry::query::cast_shapes(
                    before,
                    way,
                    &*shapes[mover.shape],
                    of_ground.position(),
                    Vector::ZERO,
                    of_ground.shape(),
                    options,
                );
                met += usize::from(found.is_ok_and(|found| found.is_some()));
            }
        }
        times.push(spent() - start);
    }
    times.sort_by(f64::total_cmp);
    let touched = scene.narrow.contact_pairs_with(ground);
    let deep =
        |pair: &&ContactPair| pair.find_deepest_contact().is_some_and(|(_, c)| c.dist <= 0.0);
    let pairs = touched.filter(deep).count();
    println!(
        "terrain {side} casts {casts}: frame {:.3} ms, at most {:.3}, {pairs} of {} meet at the \
         end, {met} casts met",
        times[times.len() / 2] * 1e3,
        times[times.len() - 1] * 1e3,
        movers.len()
    );
}

fn main() {
    for word in std::env::args().skip(1) {
        let words: Vec<&str> = word.split(':').collect();
        match words[..] {
            ["terrain", side, ref rest @ ..] => terrain(side.parse().unwrap(), !rest.is_empty()),
            [kind @ ("rays" | "hulls"), count] => casts(kind, count.parse().unwrap()),
            [count, moving, ref rest @ ..] => {
                let pace = rest.iter().find_map(|word| word.strip_prefix("pace="));
                let pace = pace.map_or(1.0, |factor| factor.parse().unwrap());
                frames(count.parse().unwrap(), moving.parse().unwrap(), pace);
            }
            _ => panic!("{word}: N:SHARE[:pace=50], rays:N, hulls:N or terrain:SIDE[:casts]"),
        }
    }
}
