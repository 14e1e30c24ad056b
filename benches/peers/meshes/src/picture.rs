//! How the cost of a question grows with the number of triangles: ours, and the best peer's.

use std::fmt::Write as _;

/// A line of the picture: microseconds by number of triangles.
pub struct Line {
    pub name: String,
    pub ours: Vec<(f64, f64)>,
    pub best: Vec<(f64, f64)>,
}

const COLOURS: [&str; 6] = ["#1f6f8b", "#c2571a", "#3f7d20", "#7b3fa0", "#a0851a", "#b0325a"];
const SIZE: [f64; 2] = [900.0, 560.0];
const LEFT: f64 = 70.0;
const TOP: f64 = 74.0;
const RIGHT: f64 = 250.0;
const BOTTOM: f64 = 60.0;

/// The file, with both axes in powers of ten.
pub fn drawn(title: &str, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| line.ours.iter().chain(&line.best));
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let low = points().map(of).fold(f64::INFINITY, f64::min).log10();
        let high = points().map(of).fold(0.0, f64::max).log10();
        [low, high]
    };
    let ([x_low, x_high], [y_low, y_high]) = (ends(|p| p.0), ends(|p| p.1));
    let (y_low, y_high) = (y_low.floor(), y_high.ceil());
    let [width, height] = SIZE;
    let x = |n: f64| LEFT + (n.log10() - x_low) / (x_high - x_low) * (width - LEFT - RIGHT);
    let y =
        |t: f64| height - BOTTOM - (t.log10() - y_low) / (y_high - y_low) * (height - TOP - BOTTOM);
    let mut svg = String::new();
    let mut put = |text: String| writeln!(svg, "{text}").expect("a string grows");
    put(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">"
    ));
    put(format!("<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"));
    put(format!("<text x=\"24\" y=\"32\" font-size=\"18\">{title}</text>"));
    put(
        "<text x=\"24\" y=\"52\" fill=\"#52606d\">microseconds by triangles; full lines are ours, \
         dashed ones the fastest peer's</text>"
            .to_owned(),
    );
    for power in y_low as i32..=y_high as i32 {
        let (at, right) = (y(10f64.powi(power)), width - RIGHT);
        put(format!("<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#e0e4e8\"/>"));
        let label = if power < 0 {
            format!("{}", 10f64.powi(power))
        } else {
            format!("{}", 10i64.pow(power as u32))
        };
        put(format!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 8.0,
            at + 4.0
        ));
    }
    let mut sizes: Vec<f64> = points().map(|p| p.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        let (at, low) = (x(size), height - BOTTOM);
        put(format!("<path d=\"M{at:.1} {TOP}V{low}\" stroke=\"#eef1f4\"/>"));
        put(format!(
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{size}</text>",
            low + 20.0
        ));
    }
    let mut labels: Vec<(f64, String)> = Vec::new();
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        for (points, dash) in [(&line.ours, ""), (&line.best, " stroke-dasharray=\"5 4\"")] {
            let path: Vec<String> =
                points.iter().map(|(n, t)| format!("{:.1} {:.1}", x(*n), y(*t))).collect();
            if !path.is_empty() {
                put(format!(
                    "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
                    path.join("L")
                ));
            }
        }
        if let Some((_, last)) = line.ours.last() {
            labels.push((y(*last), format!("fill=\"{colour}\">{}", line.name)));
        }
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::NEG_INFINITY;
    for (at, label) in labels {
        lowest = at.max(lowest + 17.0);
        put(format!(
            "<text x=\"{}\" y=\"{:.1}\" {label}</text>",
            width - RIGHT + 8.0,
            lowest + 4.0
        ));
    }
    put("</svg>".to_owned());
    svg
}
