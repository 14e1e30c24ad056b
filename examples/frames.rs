//! Where the joints of a URDF put its links: the twelve numbers of every link, rows of the rotation
//! and then the translation, by the formula of `docs/robots.md`.
//!
//! ```text
//! cargo run --example frames -- robot.urdf [CONFIGURATIONS]
//! ```
//!
//! Prints joints, then each configuration with its links. `tests/peers/robots.py` puts the numbers
//! beside those of pinocchio.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::Random;
use clearance_robot::Robot;
use clearance_robot::model::Sources;
use clearance_robot::parts::{MeshFiles, MeshTreatment};
use clearance_robot::tree::Unit;
use clearance_robot::urdf::DescriptionLimits;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else { return Err("which URDF?".into()) };
    let count: usize = arguments.next().map_or(Ok(1), |count| count.parse())?;
    let urdf = std::fs::read_to_string(file)?;
    let meshes = MeshFiles::new();
    let sources = Sources {
        urdf: &urdf,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: true,
        mesh_treatment: MeshTreatment::Hull,
    };
    let limits = DescriptionLimits {
        nodes_max: 1_000_000,
        links_max: 10_000,
        parts_max: 10_000,
        depth_max: 1_000,
    };
    let robot = Robot::build(&sources, &limits, &mut Effort::unlimited())?;
    for joint in &robot.joints {
        print!("joint {:?} {} {}", joint.kind, joint.variables.start, joint.name);
        match &joint.mimic {
            Some(mimic) => println!(" {} {:?} {:?}", mimic.joint, mimic.multiplier, mimic.offset),
            None => println!(),
        }
    }
    let mut random = Random::new(1);
    for _ in 0..count {
        let value = |variable: &clearance_robot::tree::Variable| {
            let [low, high] = match variable.unit {
                Unit::Radians => [-3.0, 3.0],
                Unit::Metres => [-0.5, 0.5],
                Unit::Quaternion => [0.1, 1.0],
            };
            random.between(variable.lower.max(low), variable.upper.min(high).max(low))
        };
        let values: Vec<f64> = robot.kinematics.tree().variables.iter().map(value).collect();
        println!("values {}", words(&values));
        let frames = robot.kinematics.place_one(&values);
        for link in &robot.links {
            let pose = match link.frame {
                Some(frame) => frames[frame].compose(&link.frame_from_link),
                None => link.frame_from_link,
            };
            let mut numbers: Vec<f64> = pose.rotation.transpose().iter().copied().collect();
            numbers.extend(pose.translation.iter());
            println!("link {} {}", words(&numbers), link.name);
        }
    }
    Ok(())
}

fn words(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" ")
}
