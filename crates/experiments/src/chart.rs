//! Curves as SVG: panels side by side, round ticks, a legend each.

use std::fmt::Write;

use super::{Experiment, Panel};
use clearance_drawing::{Head, escape};

/// Panels in a row.
const COLUMNS: usize = 2;
const PANEL_WIDTH: f64 = 600.0;
/// With a legend of one row.
const PANEL_HEIGHT: f64 = 370.0;
const LEGEND_ROW: f64 = 18.0;
const HEAD: f64 = 70.0;
/// From a panel's corners to its axes.
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 62.0;

/// Colours that people who do not see all of them can still tell from each other (M. Okabe,
/// K. Ito 2008).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5b5b5b", "#b8a800"];

const STYLE: &str = ".panel{font-size:14px;font-weight:600}.tick{font-size:11px;fill:#7b8794}\
.axis{font-size:12px;fill:#3e4c59}.key{font-size:12px}\
.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}";

/// The whole picture.
pub(super) fn svg(experiment: &Experiment, panels: &[Panel]) -> String {
    let columns = panels.len().clamp(1, COLUMNS);
    let rows = panels.iter().map(|panel| legend(panel).1).max().unwrap_or(1);
    let height = PANEL_HEIGHT + LEGEND_ROW * (rows - 1) as f64;
    let head = Head {
        width: PANEL_WIDTH * columns as f64,
        height: HEAD + height * panels.len().div_ceil(columns) as f64,
        title: experiment.source,
        subtitle: experiment.about,
        style: STYLE,
    };
    head.file(|svg| {
        for (index, panel) in panels.iter().enumerate() {
            let left = PANEL_WIDTH * (index % columns) as f64;
            let top = HEAD + height * (index / columns) as f64;
            write_panel(svg, panel, left, top)?;
        }
        Ok(())
    })
}

/// A scale from values to pixels.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_logarithmic: bool,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let of = |v: f64| if self.is_logarithmic { v.max(f64::MIN_POSITIVE).log10() } else { v };
        let part = (of(value) - of(self.low)) / (of(self.high) - of(self.low));
        self.from + (self.to - self.from) * part.clamp(0.0, 1.0)
    }

    /// Around these values; nothing sensible to scale gives [0, 1].
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64, is_logarithmic: bool) -> Self {
        let finite = values.filter(|v| v.is_finite());
        let range = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), range);
        let is_logarithmic = is_logarithmic && low > 0.0;
        let (low, high) = match (low < high, low.is_finite()) {
            (true, _) => (low, high),
            (false, true) => (low - 0.5, low + 0.5),
            (false, false) => (0.0, 1.0),
        };
        Self { low, high, from, to, is_logarithmic }
    }

    /// Round values along the scale.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            // Over more than three decades the powers of ten are enough.
            let within: &[f64] = if self.high > 1e3 * self.low { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let marks = decades.flat_map(|e| within.iter().map(move |m| m * 10f64.powi(e)));
            return marks.filter(|v| (self.low..=self.high).contains(v)).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|m| m * decade)
            .into_iter()
            .find(|s| *s >= rough)
            .unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

fn write_panel(svg: &mut String, panel: &Panel, left: f64, top: f64) -> std::fmt::Result {
    if !panel.regions.is_empty() {
        return write_map(svg, panel, left, top);
    }
    let (x0, x1) = (left + LEFT, left + PANEL_WIDTH - RIGHT);
    let (y0, y1) = (top + PANEL_HEIGHT - BOTTOM, top + TOP);
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let x = Scale::around(points().map(|p| p.0), x0, x1, panel.is_x_logarithmic);
    // A linear vertical axis begins at zero, so that ratios are seen as they are.
    let zero = std::iter::once(0.0).filter(|_| !panel.is_y_logarithmic);
    let heights = zero.chain(points().map(|p| 1.08 * p.1));
    let y = Scale::around(heights, y0, y1, panel.is_y_logarithmic);
    writeln!(
        svg,
        r#"<text class="panel" x="{x0}" y="{}">{}</text>"#,
        top + 22.0,
        escape(&panel.title)
    )?;
    write_axes(svg, panel, [&x, &y], left)?;
    write_curves(svg, panel, [&x, &y])
}

/// Regions and the ways over them, in one scale; each way begins at a dot.
fn write_map(svg: &mut String, panel: &Panel, left: f64, top: f64) -> std::fmt::Result {
    let corners = || panel.regions.iter().flat_map(|region| &region.corners);
    let reach = corners().flatten().fold(0.0_f64, |reach, c| reach.max(c.abs()));
    let half = 0.5 * (PANEL_HEIGHT - TOP - 0.5 * BOTTOM);
    let (middle_x, middle_y) = (left + 0.5 * PANEL_WIDTH, top + TOP + half);
    let place = |[x, y]: [f64; 2]| {
        format!("{:.1},{:.1}", middle_x + half * x / reach, middle_y - half * y / reach)
    };
    let title = escape(&panel.title);
    writeln!(svg, r#"<text class="panel" x="{}" y="{}">{title}</text>"#, left + LEFT, top + 22.0)?;
    for region in &panel.regions {
        let points: Vec<String> = region.corners.iter().copied().map(place).collect();
        let fill = if region.is_marked { "#cfe3f3" } else { "#ffffff" };
        let points = points.join(" ");
        writeln!(svg, r##"<polygon points="{points}" fill="{fill}" stroke="#c3cad3"/>"##)?;
    }
    for (curve, colour) in panel.curves.iter().zip(COLOURS.iter().skip(1)) {
        let points: Vec<String> = curve.points.iter().map(|p| place([p.0, p.1])).collect();
        let line = points.join(" ");
        writeln!(svg, r#"<polyline class="curve" points="{line}" stroke="{colour}"/>"#)?;
        if let Some((x, y)) = points.first().and_then(|point| point.split_once(',')) {
            writeln!(svg, r#"<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>"#)?;
        }
    }
    Ok(())
}

/// Lines across at the vertical axis' ticks, ticks below the horizontal one, and what they count.
fn write_axes(svg: &mut String, panel: &Panel, [x, y]: [&Scale; 2], left: f64) -> std::fmt::Result {
    let ([x0, x1], [y0, y1]) = ([x.from, x.to], [y.from, y.to]);
    for tick in y.ticks() {
        let at = y.at(tick);
        writeln!(
            svg,
            r##"<path d="M{x0} {at:.1}H{x1}" stroke="#e4e7eb"/>{}"##,
            tick_label([x0 - 6.0, at + 4.0], "end", tick),
        )?;
    }
    for tick in x.ticks() {
        let at = x.at(tick);
        writeln!(
            svg,
            r##"<path d="M{at:.1} {y0}v5" stroke="#9aa5b1"/>{}"##,
            tick_label([at, y0 + 18.0], "middle", tick),
        )?;
    }
    writeln!(svg, r##"<path d="M{x0} {y0}H{x1}" stroke="#9aa5b1"/>"##)?;
    let (middle_x, middle_y) = (0.5 * (x0 + x1), 0.5 * (y0 + y1));
    writeln!(
        svg,
        r#"<text class="axis" x="{middle_x}" y="{}" text-anchor="middle">{}</text>"#,
        y0 + 36.0,
        escape(panel.x_axis),
    )?;
    writeln!(
        svg,
        r#"<text class="axis" {} text-anchor="middle">{}</text>"#,
        format_args!("transform=\"translate({} {middle_y}) rotate(-90)\"", left + 22.0),
        escape(panel.y_axis),
    )
}

/// The value at a tick, anchored at this end.
fn tick_label([x, y]: [f64; 2], anchor: &str, value: f64) -> String {
    let value = round(value);
    format!(r#"<text class="tick" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{value}</text>"#)
}

/// The curves, with their names below.
fn write_curves(svg: &mut String, panel: &Panel, [x, y]: [&Scale; 2]) -> std::fmt::Result {
    for (index, (curve, (across, row))) in panel.curves.iter().zip(legend(panel).0).enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let dashes = if index < COLOURS.len() { "" } else { r#" stroke-dasharray="5 3""# };
        let line: Vec<String> =
            curve.points.iter().map(|p| format!("{:.1},{:.1}", x.at(p.0), y.at(p.1))).collect();
        let line = line.join(" ");
        writeln!(svg, r#"<polyline class="curve" points="{line}" stroke="{colour}"{dashes}/>"#)?;
        let (key, at) = (x.from + across, y.from + 52.0 + LEGEND_ROW * row as f64);
        writeln!(
            svg,
            r#"<path d="M{key:.1} {:.1}h16" stroke="{colour}" stroke-width="2.4"{dashes}/>{}"#,
            at - 4.0,
            format_args!(
                r#"<text class="key" x="{:.1}" y="{at}">{}</text>"#,
                key + 20.0,
                escape(&curve.name)
            ),
        )?;
    }
    Ok(())
}

/// Where each curve's name goes: pixels from the left end of the axis, and the row; and how many
/// rows.
fn legend(panel: &Panel) -> (Vec<(f64, usize)>, usize) {
    let (mut across, mut row) = (0.0, 0);
    let mut places = Vec::new();
    for curve in &panel.curves {
        let width = 34.0 + 6.8 * curve.name.chars().count() as f64;
        if across > 0.0 && across + width > PANEL_WIDTH - LEFT {
            (across, row) = (0.0, row + 1);
        }
        places.push((across, row));
        across += width;
    }
    (places, row + 1)
}

/// Without the dust of binary fractions.
fn round(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Curve;

    /// Ten curves once ran from one panel's legend into the next one's.
    #[test]
    fn a_long_legend_stays_under_its_panel() {
        let curve = |count: usize| Curve { name: "m".repeat(count), ..Curve::default() };
        let panel = Panel { curves: (1..30).map(curve).collect(), ..Panel::default() };
        let (places, rows) = legend(&panel);
        assert!(rows > 2);
        for (name, pair) in (1..30).zip(places.windows(2)) {
            let [(left, row), (next, next_row)] = [pair[0], pair[1]];
            let end = left + 20.0 + 6.8 * f64::from(name);
            assert!(end < PANEL_WIDTH - LEFT, "{pair:?}");
            assert!(if row == next_row { end < next } else { next == 0.0 }, "{pair:?}");
        }
    }
}
