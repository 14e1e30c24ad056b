//! Bodies of a scene that move: each goes 0.017 and turns 0.035 rad a frame, about a hundredth of
//! its size.

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;

/// A body that drifts and tumbles.
pub(crate) struct Drifter {
    pub(crate) place: Vec3,
    pub(crate) turn: [f64; 4],
    velocity: Vec3,
    spin: Vec3,
}

impl Drifter {
    /// Anywhere in a cube of this side; `pace` is how many times a hundredth of its size it goes
    /// in a frame.
    pub(crate) fn anywhere(random: &mut Random, side: f64, pace: f64) -> Self {
        Self {
            place: Vec3::from_fn(|_, _| random.between(0.0, side)),
            turn: [1.0, random.unit(), random.unit(), random.unit()],
            velocity: random.direction() * 0.017 * pace,
            spin: random.direction() * 0.035 * pace,
        }
    }

    pub(crate) fn go_on(&mut self) {
        self.place += self.velocity;
        let [w, x, y, z] = self.turn;
        let s = self.spin / 2.0;
        let turned = [
            w - s.x * x - s.y * y - s.z * z,
            x + s.x * w + s.y * z - s.z * y,
            y + s.y * w + s.z * x - s.x * z,
            z + s.z * w + s.x * y - s.y * x,
        ];
        let norm = turned.iter().map(|c| c * c).sum::<f64>().sqrt();
        self.turn = turned.map(|c| c / norm);
    }
}

/// Which of so many bodies move in a frame, if that is this share of them: others in every frame.
pub(crate) fn movers(bodies: usize, share: f64, frame: u64) -> impl Iterator<Item = usize> {
    let moving = (bodies as f64 * share) as usize;
    (0..moving).map(
        move |j| {
            if share < 1.0 { (j * bodies / moving + frame as usize) % bodies } else { j }
        },
    )
}
