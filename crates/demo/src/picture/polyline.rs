//! Lines as SVG writes them, in as few bytes as their look allows.

/// A line may leave out points that are nearer than this to it, pixels.
const DEVIATION: f64 = 0.08;

/// The points as a path of steps in tenths of a pixel, each relative to the one before. What closes
/// or continues the path can be appended.
pub(super) fn path(points: &[[f64; 2]]) -> String {
    let mut path = String::new();
    let mut last = [0_i64; 2];
    let mut written = 0;
    for point in points {
        let tenths = point.map(|pixels| (pixels * 10.0).round() as i64);
        let [dx, dy] = [tenths[0] - last[0], tenths[1] - last[1]];
        if written > 0 && dx == 0 && dy == 0 {
            continue;
        }
        // After a letter, and before a minus, no space is needed.
        path.push_str(["M", "l", if dx < 0 { "" } else { " " }][written.min(2)]);
        path.push_str(&decimal(dx));
        path.push_str(if dy < 0 { "" } else { " " });
        path.push_str(&decimal(dy));
        last = tenths;
        written += 1;
    }
    path
}

/// A number of tenths, without zeros that say nothing.
fn decimal(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    match (tenths.abs() / 10, tenths.abs() % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, tenth) => format!("{sign}.{tenth}"),
        (whole, tenth) => format!("{sign}{whole}.{tenth}"),
    }
}

/// The line without the points that nobody would see missing (Douglas and Peucker, "Algorithms for
/// the reduction of the number of points", 1973).
pub(super) fn simplified(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut is_kept = vec![false; points.len()];
    let mut spans = vec![[0, points.len().saturating_sub(1)]];
    while let Some([from, to]) = spans.pop() {
        for end in [from, to] {
            if let Some(kept) = is_kept.get_mut(end) {
                *kept = true;
            }
        }
        let inner = (from + 1..to).map(|k| (deviation(points[k], points[from], points[to]), k));
        if let Some((most, k)) = inner.max_by(|a, b| a.0.total_cmp(&b.0))
            && most > DEVIATION
        {
            spans.extend([[from, k], [k, to]]);
        }
    }
    points.iter().zip(is_kept).filter_map(|(point, kept)| kept.then_some(*point)).collect()
}

/// How far a point is from the line through two others.
fn deviation([x, y]: [f64; 2], [from_x, from_y]: [f64; 2], [to_x, to_y]: [f64; 2]) -> f64 {
    let (dx, dy) = (to_x - from_x, to_y - from_y);
    let length = dx.hypot(dy);
    if length > 0.0 {
        ((x - from_x) * dy - (y - from_y) * dx).abs() / length
    } else {
        (x - from_x).hypot(y - from_y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_relative_steps_and_no_needless_character() {
        let points = [[1.0, 2.0], [1.0, 2.02], [1.5, 2.0], [0.4, 12.0], [10.4, 12.5]];
        assert_eq!(path(&points), "M1 2l.5 0-1.1 10 10 .5");
    }

    #[test]
    fn points_on_a_line_are_left_out_and_corners_are_not() {
        let points: Vec<[f64; 2]> =
            (0..=20).map(|k| [f64::from(k), f64::from(k.min(10))]).collect();
        assert_eq!(simplified(&points), [[0.0, 0.0], [10.0, 10.0], [20.0, 10.0]]);
        assert_eq!(simplified(&points[..1]), [[0.0, 0.0]]);
        assert!(simplified(&[]).is_empty());
    }
}
