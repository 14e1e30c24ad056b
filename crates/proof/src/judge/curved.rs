//! The judge of polytopes in and around a curved body: exact, in its own frame.
//!
//! *In*: each vertex satisfies the inequalities of the body, which are polynomials without their
//! denominators, and the body is convex.
//!
//! *Around*: a closed surface of triangles with the vertices as corners, and the body behind the
//! plane of each that has an area. From a point x strictly inside the body, and on no triangle that
//! has none, each that has one is then seen from its inner side, under a positive solid angle. The
//! sum of these is 4π times how often the surface winds around x, which is not 0; but around a
//! point outside the hull of the corners it would be, since the surface could be drawn together to
//! one of them within the hull. So x is in the hull, and with nearly all of the interior so is the
//! whole body.

use super::depth::is_closed;
use super::distance::{judge_bounds, judge_zero};
use super::exact::{Exact, is_zero, minus, scalar_product, vector_product};
use super::refusal::Refusal;
use crate::Vec3;
use crate::claim::{CurvedCore, CurvedForm, Measured, Outcome, SideClaim, Span, Verdict};
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;

/// Proves that each of some points is in a curved body. A step is a look at one.
///
/// ```
/// # use clearance_geometry::{Vec3, effort::Effort};
/// use clearance_geometry::claim::{CurvedCore, CurvedForm};
/// use clearance_geometry::judge::judge_inside;
///
/// let cone = CurvedCore { form: CurvedForm::Cone, half: Vec3::new(3.0, 3.0, 2.0) };
/// let judge = |x, z| judge_inside(&cone, &[Vec3::new(x, 0.0, z)], &mut Effort::unlimited());
/// assert!(judge(1.5, 0.0).is_ok() && judge(0.0, 2.0).is_ok());
/// assert!(judge(1.5_f64.next_up(), 0.0).is_err() && judge(0.0, 2.0_f64.next_up()).is_err());
/// ```
pub fn judge_inside(
    core: &CurvedCore,
    points: &[Vec3],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let half = checked(core)?;
    for point in points {
        effort.spend_step()?;
        if !holds(core.form, &half, &exact(point)?) {
            return Err(Refusal::NotBetween("a vertex is not in the curved body"));
        }
    }
    Ok(())
}

/// Proves that the hull of some points holds a curved body, by a surface with these corners. A step
/// is a look at a triangle.
pub fn judge_around(
    core: &CurvedCore,
    points: &[Vec3],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let half = checked(core)?;
    let exist = |triangle: &[u32; 3]| triangle.iter().all(|&at| (at as usize) < points.len());
    if !triangles.iter().all(exist) {
        return Err(Refusal::NotBetween("the surface has triangles, of its vertices"));
    }
    effort.look_at_clock()?;
    if !is_closed(triangles) {
        return Err(Refusal::NotBetween("the surface around the curved body is not closed"));
    }
    let corners = points.iter().map(exact).collect::<Result<Vec<Exact>, Refusal>>()?;
    let mut has_area = false;
    for triangle in triangles {
        effort.spend_step()?;
        let [a, b, c] = triangle.map(|corner| &corners[corner as usize]);
        let normal = vector_product(&minus(b, a), &minus(c, a));
        if is_zero(&normal) {
            continue;
        }
        has_area = true;
        if !is_behind(core.form, &half, &normal, &scalar_product(&normal, a)) {
            return Err(Refusal::NotBetween("the curved body is beyond a triangle around it"));
        }
    }
    let none = Refusal::NotBetween("the surface around the curved body has no area");
    if has_area { Ok(()) } else { Err(none) }
}

/// Proves what is said of two bodies by what is said, and is proven apart from this, of bodies that
/// hold them and of bodies in them.
pub fn judge_between(
    told: &SideClaim,
    outer: Option<&SideClaim>,
    inner: Option<&SideClaim>,
) -> Result<(), Refusal> {
    let fails = |is_so: bool, why| if is_so { Ok(()) } else { Err(Refusal::BoundFails(why)) };
    let of = |side: Option<&SideClaim>| side.map(|side| side.verdict);
    let is_apart = of(outer) == Some(Verdict::Separated);
    let is_deep = of(inner) == Some(Verdict::Overlapping);
    let is_shown = match told.verdict {
        Verdict::Separated => is_apart,
        Verdict::Overlapping => is_deep,
        Verdict::Touching => {
            matches!(of(outer), Some(Verdict::Touching | Verdict::Separated))
                && matches!(of(inner), Some(Verdict::Touching | Verdict::Overlapping))
        }
    };
    fails(is_shown, "what stands in and around the bodies does not show the verdict")?;
    let within = |side: Option<&SideClaim>| side.and_then(|side| side.is_within);
    let is_shown = match told.is_within {
        None => true,
        Some(true) => within(inner) == Some(true),
        Some(false) => within(outer) == Some(false),
    };
    fails(
        is_shown,
        "what stands in and around the bodies does not show what is said of the margin",
    )?;
    judge_measured(told, outer, inner)
}

fn judge_measured(
    told: &SideClaim,
    outer: Option<&SideClaim>,
    inner: Option<&SideClaim>,
) -> Result<(), Refusal> {
    let measured = |side: Option<&SideClaim>| side.map(|side| side.measured);
    let (outer, inner) = (measured(outer), measured(inner));
    // Written so that NaN is refused.
    let is_shown = match told.measured {
        Measured::Nothing => true,
        Measured::Distance(bounds) if told.verdict != Verdict::Separated => {
            return judge_zero(bounds);
        }
        Measured::Depth(bounds) if told.verdict != Verdict::Overlapping => {
            return judge_zero(bounds);
        }
        Measured::Distance([lower, upper]) => {
            judge_bounds([lower, upper])?;
            let reaches = |side| matches!(side, Some(Measured::Distance([_, far])) if far <= upper);
            let keeps = |side| matches!(side, Some(Measured::Distance([near, _])) if lower <= near);
            reaches(inner) && keeps(outer)
        }
        Measured::Depth([lower, upper]) => {
            judge_bounds([lower, upper])?;
            let reaches = |side| matches!(side, Some(Measured::Depth([_, most])) if most <= upper);
            let keeps = |side| matches!(side, Some(Measured::Depth([least, _])) if lower <= least);
            reaches(outer) && keeps(inner)
        }
        Measured::Range(span) => is_range_shown(told.verdict, span, outer, inner),
        Measured::Course { outcome, t_free, t_contact } => {
            let is_free = |until: f64| match outer {
                Some(Measured::Course { outcome: Outcome::NoContact, .. }) => until <= 1.0,
                Some(Measured::Course { t_free, .. }) => until <= t_free,
                _ => false,
            };
            let is_met = |by: f64| match inner {
                Some(Measured::Course { outcome: Outcome::Contact, t_contact, .. }) => {
                    t_contact <= by && by <= 1.0
                }
                _ => false,
            };
            // Free at t = 0 alone, the verdict says.
            let is_kept = t_free >= 0.0 && (t_free <= 0.0 || is_free(t_free));
            let is_separated = told.verdict == Verdict::Separated;
            let never = matches!(outer, Some(Measured::Course { outcome: Outcome::NoContact, .. }));
            match outcome {
                Outcome::Contact if is_separated => {
                    is_kept && t_free <= t_contact && is_met(t_contact)
                }
                Outcome::Contact => [t_free, t_contact].iter().all(|t| t.abs() <= 0.0),
                Outcome::NoContact => is_kept && never,
                Outcome::Undecided => is_kept && is_separated,
            }
        }
    };
    let why = Refusal::BoundFails("what stands in and around the bodies does not show it");
    if is_shown { Ok(()) } else { Err(why) }
}

/// Whether a range begins and ends as it is told: no sooner and no later than that of what is
/// around, which there is none of where it never is, and no later and no sooner than that of what
/// is inside.
fn is_range_shown(
    verdict: Verdict,
    told: Option<Span>,
    outer: Option<Measured>,
    inner: Option<Measured>,
) -> bool {
    let Some(Span { enter, exit }) = told else {
        return verdict == Verdict::Separated && matches!(outer, Some(Measured::Range(None)));
    };
    let (Some(Measured::Range(Some(outer))), Some(Measured::Range(Some(inner)))) = (outer, inner)
    else {
        return false;
    };
    let begins = if verdict == Verdict::Separated {
        enter[0] <= outer.enter[0] && inner.enter[1] <= enter[1]
    } else {
        enter.iter().all(|t| t.abs() <= 0.0)
    };
    // Written so that NaN is refused.
    let are_brackets = [enter, exit].iter().all(|&[low, high]| 0.0 <= low && low <= high);
    are_brackets && begins && exit[0] <= inner.exit[0] && outer.exit[1] <= exit[1]
}

/// The half sizes, exactly, if they are such.
fn checked(core: &CurvedCore) -> Result<Exact, Refusal> {
    let CurvedCore { form, half } = core;
    let length = if *form == CurvedForm::Cone { half.z.abs() } else { half.z };
    // Written so that NaN is none.
    let are_sizes = [half.x, half.y, length].iter().all(|&size| size > 0.0);
    if are_sizes { exact(half) } else { Err(Refusal::NotBetween("the body has no such size")) }
}

fn exact(point: &Vec3) -> Result<Exact, Refusal> {
    let is_finite = point.iter().all(|x| x.is_finite());
    let exact = || std::array::from_fn(|k| Dyadic::from(point[k]));
    is_finite.then(exact).ok_or(Refusal::NotBetween("a vertex is not finite"))
}

fn squared(x: &Dyadic) -> Dyadic {
    x * x
}

fn is_negative(x: &Dyadic) -> bool {
    x.sign() == Sign::Negative
}

/// Whether a point is in the body: its inequalities, times what they have for denominators.
fn holds(form: CurvedForm, [a, b, c]: &Exact, [x, y, z]: &Exact) -> bool {
    let area = a * b;
    // (ab)² ((x/a)² + (y/b)²)
    let around = &squared(&(x * b)) + &squared(&(y * a));
    match form {
        CurvedForm::Ellipsoid => {
            &(&around * &squared(c)) + &squared(&(z * &area)) <= squared(&(&area * c))
        }
        CurvedForm::Cylinder => squared(z) <= squared(c) && around <= squared(&area),
        CurvedForm::Cone => {
            // From the base at 0 to the apex at 2c, both times the sign of c.
            let (from_base, to_apex) = (z + c, c - z);
            let is_above = !is_negative(&(&from_base * c)) && !is_negative(&(&to_apex * c));
            // (x/a)² + (y/b)² <= ((c - z) / 2c)²
            let twice = c + c;
            is_above && &around * &squared(&twice) <= squared(&(&area * &to_apex))
        }
    }
}

/// Whether no point of the body is beyond the plane `n·x = level`.
fn is_behind(form: CurvedForm, [a, b, c]: &Exact, n: &Exact, level: &Dyadic) -> bool {
    let along = c * &n[2];
    // The square of how far the ellipse with a and b reaches along n.
    let around = &squared(&(a * &n[0])) + &squared(&(b * &n[1]));
    let reaches = |square: &Dyadic, level: &Dyadic| {
        // √square <= level
        !is_negative(level) && *square <= squared(level)
    };
    match form {
        CurvedForm::Ellipsoid => reaches(&(&around + &squared(&along)), level),
        CurvedForm::Cylinder => {
            let length = if is_negative(&along) { -&along } else { along };
            reaches(&around, &(level - &length))
        }
        CurvedForm::Cone => along <= *level && reaches(&around, &(level + &along)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corners of a box and its triangles.
    fn boxed(half: [f64; 3]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corner =
            |i: usize| Vec3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
        let sides: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
        ((0..8).map(corner).collect(), sides.into_iter().flat_map(halves).collect())
    }

    fn forms() -> [CurvedCore; 3] {
        [CurvedForm::Cylinder, CurvedForm::Cone, CurvedForm::Ellipsoid]
            .map(|form| CurvedCore { form, half: Vec3::new(1.0, 2.0, 0.5) })
    }

    fn around(core: &CurvedCore, points: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), Refusal> {
        judge_around(core, points, triangles, &mut Effort::unlimited())
    }

    #[test]
    fn the_box_of_the_half_sizes_is_around_and_one_an_ulp_smaller_is_not() {
        for core in forms() {
            let half = [core.half.x, core.half.y, core.half.z];
            let (points, triangles) = boxed(half);
            assert_eq!(around(&core, &points, &triangles), Ok(()));
            for axis in 0..3 {
                let mut less = half;
                less[axis] = less[axis].next_down();
                let (points, triangles) = boxed(less);
                assert!(around(&core, &points, &triangles).is_err(), "{core:?}, {axis}");
            }
        }
    }

    /// Inside out it would show that nothing is in it, and open it could stand beside the body.
    #[test]
    fn a_surface_that_is_open_or_inside_out_or_empty_or_flat_is_around_nothing() {
        for core in forms() {
            let (points, triangles) = boxed([3.0; 3]);
            let turned: Vec<_> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
            assert!(around(&core, &points, &turned).is_err());
            assert!(around(&core, &points, &triangles[1..]).is_err());
            assert!(around(&core, &points, &[]).is_err());
            assert!(around(&core, &points, &[[0, 1, 2], [0, 2, 1]]).is_err());
            assert!(around(&core, &points, &[[0, 1, 1], [1, 0, 0]]).is_err());
            assert!(around(&core, &points, &[[0, 1, 8], [1, 0, 8]]).is_err());
            let beside: Vec<Vec3> = points.iter().map(|v| v + Vec3::new(7.0, 0.0, 0.0)).collect();
            assert!(around(&core, &beside, &triangles).is_err());
            // Twice around it holds it as well.
            let twice = [&triangles[..], &triangles[..]].concat();
            assert_eq!(around(&core, &points, &twice), Ok(()));
        }
    }

    #[test]
    fn points_on_the_boundary_are_inside_and_an_ulp_beyond_they_are_not() {
        let inside = |core: &CurvedCore, point: Vec3| {
            judge_inside(core, &[point], &mut Effort::unlimited()).is_ok()
        };
        for core in forms() {
            let base = if core.form == CurvedForm::Cone { -core.half.z } else { 0.0 };
            for (axis, at) in [(0, base), (1, base)] {
                let mut point = Vec3::new(0.0, 0.0, at);
                point[axis] = core.half[axis];
                assert!(inside(&core, point), "{core:?}");
                point[axis] = point[axis].next_up();
                assert!(!inside(&core, point), "{core:?}");
            }
            for z in [core.half.z, -core.half.z] {
                assert!(inside(&core, Vec3::new(0.0, 0.0, z)));
                let beyond = z.abs().next_up().copysign(z);
                assert!(!inside(&core, Vec3::new(0.0, 0.0, beyond)));
            }
        }
        // A cone that stands on its apex, and beside it what would be in the double cone.
        let core = CurvedCore { form: CurvedForm::Cone, half: Vec3::new(1.0, 1.0, -1.0) };
        assert!(inside(&core, Vec3::new(1.0, 0.0, 1.0)) && inside(&core, -Vec3::z()));
        assert!(!inside(&core, Vec3::new(1.0, 0.0, -1.0)) && !inside(&core, -2.0 * Vec3::z()));
        assert!(!inside(&core, Vec3::new(0.0, 0.0, 1.5)));
        for half in [Vec3::new(0.0, 1.0, 1.0), Vec3::new(1.0, f64::NAN, 1.0), Vec3::zeros()] {
            let none = CurvedCore { form: CurvedForm::Cylinder, half };
            assert!(!inside(&none, Vec3::zeros()));
        }
    }

    #[test]
    fn an_answer_rests_on_the_side_that_shows_it() {
        use Verdict::{Overlapping, Separated, Touching};
        let said = |verdict| SideClaim { verdict, is_within: None, measured: Measured::Nothing };
        let judge = |told, outer: Option<Verdict>, inner: Option<Verdict>| {
            let (outer, inner) = (outer.map(said), inner.map(said));
            judge_between(&said(told), outer.as_ref(), inner.as_ref()).is_ok()
        };
        for other in [None, Some(Separated), Some(Touching), Some(Overlapping)] {
            assert!(judge(Separated, Some(Separated), other));
            assert!(judge(Overlapping, other, Some(Overlapping)));
            assert_eq!(judge(Separated, other, Some(Separated)), other == Some(Separated));
            assert_eq!(judge(Overlapping, Some(Overlapping), other), other == Some(Overlapping));
            assert!(!judge(Touching, Some(Overlapping), other));
            assert!(!judge(Touching, other, Some(Separated)));
        }
        assert!(judge(Touching, Some(Touching), Some(Touching)));
        assert!(!judge(Touching, Some(Touching), None) && !judge(Touching, None, Some(Touching)));
    }

    #[test]
    fn a_margin_and_a_bracket_rest_on_both_sides_each_on_its_own() {
        let said = |verdict, is_within, measured| SideClaim { verdict, is_within, measured };
        let at = |is_within| said(Verdict::Separated, is_within, Measured::Nothing);
        let within = |told, outer, inner| {
            judge_between(&at(told), Some(&at(outer)), Some(&at(inner))).is_ok()
        };
        assert!(within(Some(true), None, Some(true)) && within(Some(false), Some(false), None));
        assert!(!within(Some(true), Some(true), None) && !within(Some(false), None, Some(false)));
        assert!(!within(Some(true), Some(true), Some(false)));
        let apart = |bounds| said(Verdict::Separated, None, Measured::Distance(bounds));
        let distance = |told, outer, inner| {
            judge_between(&apart(told), Some(&apart(outer)), Some(&apart(inner))).is_ok()
        };
        assert!(distance([1.0, 2.0], [1.0, 1.5], [1.5, 2.0]));
        assert!(!distance([1.0, 2.0], [1.0_f64.next_down(), 1.5], [1.5, 2.0]));
        assert!(!distance([1.0, 2.0], [1.0, 1.5], [1.5, 2.0_f64.next_up()]));
        assert!(!distance([f64::NAN, 2.0], [1.0, 1.5], [1.5, 2.0]));
        let deep = |bounds| said(Verdict::Overlapping, None, Measured::Depth(bounds));
        let depth = |told, outer, inner| {
            judge_between(&deep(told), Some(&deep(outer)), Some(&deep(inner))).is_ok()
        };
        assert!(depth([1.0, 2.0], [1.5, 2.0], [1.0, 1.5]));
        assert!(!depth([1.0, 2.0], [1.5, 2.0_f64.next_up()], [1.0, 1.5]));
        assert!(!depth([1.0, 2.0], [1.5, 2.0], [1.0_f64.next_down(), 1.5]));
    }

    #[test]
    fn a_range_begins_and_ends_between_those_of_both_sides() {
        let said =
            |verdict, span| SideClaim { verdict, is_within: None, measured: Measured::Range(span) };
        let range = |enter, exit| Some(Span { enter, exit });
        let apart = |span| said(Verdict::Separated, span);
        let (outer, inner) = (range([1.0, 1.5], [8.0, 9.0]), range([2.0, 2.5], [6.0, 7.0]));
        let judge = |told, outer, inner| {
            judge_between(&apart(told), Some(&apart(outer)), Some(&apart(inner))).is_ok()
        };
        assert!(judge(range([1.0, 2.5], [6.0, 9.0]), outer, inner));
        assert!(judge(range([0.5, 3.0], [5.0, f64::INFINITY]), outer, inner));
        for told in [
            range([1.0_f64.next_up(), 2.5], [6.0, 9.0]),
            range([1.0, 2.5_f64.next_down()], [6.0, 9.0]),
            range([1.0, 2.5], [6.0_f64.next_up(), 9.0]),
            range([1.0, 2.5], [6.0, 9.0_f64.next_down()]),
            range([f64::NAN, 2.5], [6.0, 9.0]),
            range([1.0, f64::NAN], [6.0, 9.0]),
            range([1.0, 2.5], [6.0, f64::NAN]),
            range([-1.0, 2.5], [6.0, 9.0]),
            None,
        ] {
            assert!(!judge(told, outer, inner), "{told:?}");
        }
        assert!(!judge(range([1.0, 2.5], [6.0, 9.0]), outer, None));
        assert!(!judge(range([1.0, 2.5], [6.0, 9.0]), None, inner));
        // That what is inside never meets shows nothing.
        assert!(judge(None, None, None) && !judge(None, outer, None));
        assert!(judge_between(&apart(None), Some(&apart(None)), None).is_ok());
        assert!(judge_between(&apart(None), None, Some(&apart(None))).is_err());
        let (deep, at_once) = (Verdict::Overlapping, range([0.0; 2], [6.0, 9.0]));
        let of_deep = |told| {
            let (outer, inner) = (said(deep, at_once), said(deep, range([0.0; 2], [6.0, 7.0])));
            judge_between(&said(deep, told), Some(&outer), Some(&inner)).is_ok()
        };
        assert!(of_deep(at_once) && !of_deep(range([0.0, 1.0], [6.0, 9.0])) && !of_deep(None));
    }

    #[test]
    fn a_course_is_free_as_long_as_what_is_around_and_met_when_what_is_inside() {
        use Outcome::{Contact, NoContact, Undecided};
        let course = |verdict, outcome, t_free, t_contact| {
            let measured = Measured::Course { outcome, t_free, t_contact };
            SideClaim { verdict, is_within: None, measured }
        };
        let apart =
            |outcome, t_free, t_contact| course(Verdict::Separated, outcome, t_free, t_contact);
        let outer = apart(Contact, 0.5, 0.6);
        let inner = apart(Contact, 0.6, 0.7);
        let judge = |told: SideClaim| judge_between(&told, Some(&outer), Some(&inner)).is_ok();
        assert!(judge(apart(Contact, 0.5, 0.7)) && judge(apart(Undecided, 0.5, 1.0)));
        assert!(!judge(apart(Contact, 0.5_f64.next_up(), 0.7)));
        assert!(!judge(apart(Contact, 0.5, 0.7_f64.next_down())));
        assert!(!judge(apart(NoContact, 0.5, 1.0)) && !judge(apart(Contact, f64::NAN, 0.7)));
        assert!(!judge(course(Verdict::Overlapping, Contact, 0.0, 0.0)));
        let never = apart(NoContact, 1.0, 1.0);
        assert!(judge_between(&never, Some(&never), None).is_ok());
        assert!(judge_between(&never, None, Some(&never)).is_err());
        let at_once = course(Verdict::Overlapping, Contact, 0.0, 0.0);
        assert!(judge_between(&at_once, None, Some(&at_once)).is_ok());
        let late = course(Verdict::Overlapping, Contact, 0.0, 0.5);
        assert!(judge_between(&late, None, Some(&at_once)).is_err());
    }
}
