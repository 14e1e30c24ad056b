//! Clearance over time: one strip for each link that was in contact, with its contacts shaded, and
//! one thin strip for all others together.

use std::fmt::{Result, Write};

use super::polyline;
use clearance_drawing::escape;

/// The strips and what they share.
#[derive(Debug, Default)]
pub(crate) struct Chart {
    /// Seconds from the left edge to the right one.
    pub(crate) duration_s: f64,
    /// One for each link that was in contact, from top to bottom.
    pub(crate) strips: Vec<Strip>,
    /// The links that were in no contact, all in one.
    pub(crate) quiet: Option<Strip>,
}

/// The strip of one link, or of all quiet ones.
#[derive(Debug, Default)]
pub(crate) struct Strip {
    /// The link.
    pub(crate) name: String,
    /// To the right of the strip: for example the least clearance and with what.
    pub(crate) notes: [String; 2],
    /// From obstacles, metres, evenly spread over the duration.
    pub(crate) clearance_m: Vec<f64>,
    /// From the robot's other links, in the same way.
    pub(crate) own_clearance_m: Vec<f64>,
    /// Contacts in order of time.
    pub(crate) bands: Vec<Band>,
}

/// A contact.
#[derive(Debug)]
pub(crate) struct Band {
    /// With what.
    pub(crate) name: String,
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
    /// Not seen by the frames alone.
    pub(crate) is_between_frames: bool,
}

const LEFT: f64 = 132.0;
const RIGHT: f64 = 1066.0;
/// Height of the legend above the strips, pixels.
const LEGEND: f64 = 34.0;
/// Height of a strip with all that belongs to it, pixels.
const STRIP: f64 = 84.0;
/// The part of it above the curves where the names of contacts are written.
const NAMES: f64 = 17.0;
/// The part of it below the names that is drawn in; the rest is air.
const INK: f64 = 56.0;
/// Height of the strip of quiet links, and the part of it that is drawn in.
const QUIET_STRIP: f64 = 44.0;
const QUIET_INK: f64 = 30.0;
/// Height of the time axis below the strips.
const AXIS: f64 = 50.0;
/// Clearance at the upper edge of a strip, metres; anything more is cut off there.
const CLEARANCE_SHOWN_M: f64 = 0.4;
/// Heights of the thin lines, metres.
const LINES_M: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.4];
const QUIET_LINES_M: [f64; 2] = [0.1, 0.4];
/// Average width of a character of the small labels, pixels.
const LABEL_CHARACTER: f64 = 6.4;
/// Average width of a character of the legend, pixels.
const LEGEND_CHARACTER: f64 = 6.2;
/// A stretch beyond the upper edge that is narrower than this, pixels, has one arrow, not two.
const ARROWS_APART: f64 = 14.0;

/// The colours of the two curves.
const FROM_OBSTACLES: &str = "#0f766e";
const FROM_LINKS: &str = "#829ab1";

/// Classes of the chart's own elements.
pub(super) const STYLE: &str = ".link{font-size:13.5px;font-weight:600}\
.note{font-size:11.5px;fill:#3e4c59}\
.tick{font-size:11px;fill:#7b8794}.scale{font-size:8.5px;fill:#829ab1}\
.band{font-size:11px;fill:#b42318;font-weight:600}\
.between{font-size:11px;fill:#7a1fa2;font-weight:600}";

/// Where a strip is on the page and how high it is.
#[derive(Clone, Copy)]
struct StripArea {
    /// The upper edge of what is drawn in.
    top: f64,
    /// Clearance zero.
    floor: f64,
}

impl Chart {
    /// Pixels.
    pub(super) fn height(&self) -> f64 {
        let quiet = if self.quiet.is_some() { QUIET_STRIP } else { 0.0 };
        LEGEND + STRIP * self.strips.len() as f64 + quiet + AXIS
    }

    pub(super) fn write(&self, svg: &mut String, top: f64) -> Result {
        write_legend(svg, top + 12.0)?;
        let bottom = top + self.height() - AXIS;
        self.write_seconds(svg, top + LEGEND, bottom)?;
        for (index, strip) in self.strips.iter().enumerate() {
            let top = top + LEGEND + STRIP * index as f64 + NAMES;
            let area = StripArea { top, floor: top + INK };
            self.write_strip(svg, strip, area, &LINES_M)?;
            self.write_bands(svg, strip, area)?;
        }
        match &self.quiet {
            Some(strip) => {
                let area = StripArea { top: bottom - QUIET_INK, floor: bottom };
                self.write_strip(svg, strip, area, &QUIET_LINES_M)
            }
            None => Ok(()),
        }
    }

    fn write_seconds(&self, svg: &mut String, top: f64, bottom: f64) -> Result {
        let mut second = 0.0;
        while second <= self.duration_s {
            let x = self.x(second);
            writeln!(
                svg,
                "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#e4e7eb\"/><text class=\"tick\" \
                 x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{second}</text>",
                bottom + 16.0,
            )?;
            second += 1.0;
        }
        writeln!(
            svg,
            "<text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\">time, seconds</text>",
            0.5 * (LEFT + RIGHT),
            bottom + 34.0,
        )
    }

    fn write_strip(
        &self,
        svg: &mut String,
        strip: &Strip,
        area: StripArea,
        lines_m: &[f64],
    ) -> Result {
        for line_m in lines_m {
            let y = area.height_of(*line_m);
            writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#eef0f2\"/><text class=\"scale\" \
                 x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 5.0,
                y + 3.0,
                line_m * 1e3,
            )?;
        }
        self.write_curves(svg, strip, area)?;
        let StripArea { top, floor } = area;
        writeln!(svg, "<path d=\"M{LEFT} {floor}H{RIGHT}\" stroke=\"#9aa5b1\"/>")?;
        let middle = 0.5 * (top + floor);
        writeln!(
            svg,
            "<text class=\"link\" x=\"24\" y=\"{:.1}\">{}</text>",
            middle + 5.0,
            escape(&strip.name),
        )?;
        for (note, y) in strip.notes.iter().zip([middle - 3.0, middle + 12.0]) {
            let x = RIGHT + 14.0;
            writeln!(svg, "<text class=\"note\" x=\"{x}\" y=\"{y:.1}\">{}</text>", escape(note))?;
        }
        Ok(())
    }

    fn write_curves(&self, svg: &mut String, strip: &Strip, area: StripArea) -> Result {
        let floor = area.floor;
        let points = self.points(&strip.clearance_m, area);
        let path = polyline::path(&polyline::simplified(&points));
        writeln!(
            svg,
            "<path d=\"{path}V{floor}H{LEFT}z\" fill=\"#bfe3df\" fill-opacity=\"0.7\"/>"
        )?;
        self.write_line(svg, &strip.own_clearance_m, area, FROM_LINKS)?;
        self.write_line(svg, &strip.clearance_m, area, FROM_OBSTACLES)
    }

    /// A curve where it is within the strip, and a mark wherever it leaves it or comes back.
    fn write_line(
        &self,
        svg: &mut String,
        values_m: &[f64],
        area: StripArea,
        colour: &str,
    ) -> Result {
        // Links without a pair that is checked have no such curve.
        if values_m.iter().all(|value_m| value_m.is_infinite()) {
            return Ok(());
        }
        let points = self.points(values_m, area);
        let is_cut = |value_m: &f64| *value_m >= CLEARANCE_SHOWN_M;
        let mut start = 0;
        for stretch in values_m.chunk_by(|a, b| is_cut(a) == is_cut(b)) {
            let end = start + stretch.len();
            if is_cut(&stretch[0]) {
                let ends = [points[start][0], points[end - 1][0]];
                write_cut(svg, ends, area.top, colour)?;
            } else {
                // With the neighbours on both sides, so that the curve reaches the upper edge.
                let seen = start.saturating_sub(1)..(end + 1).min(points.len());
                let path = polyline::path(&polyline::simplified(&points[seen]));
                writeln!(
                    svg,
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.3\" \
                     stroke-linejoin=\"round\"/>"
                )?;
            }
            start = end;
        }
        Ok(())
    }

    /// The points of a curve on the page.
    fn points(&self, values_m: &[f64], area: StripArea) -> Vec<[f64; 2]> {
        let steps = values_m.len().saturating_sub(1).max(1) as f64;
        let point = |(index, value_m): (usize, &f64)| {
            [self.x(self.duration_s * index as f64 / steps), area.height_of(*value_m)]
        };
        values_m.iter().enumerate().map(point).collect()
    }

    /// Shades every contact and writes its name above the curves, where nothing else is.
    fn write_bands(&self, svg: &mut String, strip: &Strip, area: StripArea) -> Result {
        let StripArea { top, floor } = area;
        // Where the name before ends, so that none is written over another.
        let mut taken = LEFT;
        for band in &strip.bands {
            let (from, to) = (self.x(band.from_s), self.x(band.to_s));
            if band.is_between_frames {
                writeln!(
                    svg,
                    "<path d=\"M{from:.1} {:.1}V{floor}\" stroke=\"#7a1fa2\" stroke-width=\"1.3\" \
                     stroke-dasharray=\"3 2\"/><path d=\"M{from:.1} {:.1}l5 6l-5 6l-5 -6z\" \
                     fill=\"#7a1fa2\"/>",
                    top - 2.0,
                    floor - 6.0,
                )?;
            } else {
                writeln!(
                    svg,
                    "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\" \
                     fill=\"#f97066\" fill-opacity=\"0.45\"/>",
                    top - 2.0,
                    (to - from).max(2.0),
                    floor - top + 2.0,
                )?;
            }
            let class = if band.is_between_frames { "between" } else { "band" };
            let width = LABEL_CHARACTER * band.name.chars().count() as f64;
            let start = (0.5 * (from + to - width)).min(RIGHT - width).max(taken);
            taken = start + width + 6.0;
            writeln!(
                svg,
                "<text class=\"{class}\" x=\"{start:.1}\" y=\"{:.1}\">{}</text>",
                top - 6.0,
                escape(&band.name),
            )?;
        }
        Ok(())
    }

    fn x(&self, time_s: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * time_s / self.duration_s
    }
}

impl StripArea {
    /// The height of a clearance on the page: by its square root, which shows millimetres and
    /// decimetres in one strip.
    fn height_of(self, clearance_m: f64) -> f64 {
        let share = (clearance_m / CLEARANCE_SHOWN_M).clamp(0.0, 1.0).sqrt();
        self.floor - (self.floor - self.top) * share
    }
}

/// Marks where a curve is cut off at the upper edge: an arrow where it leaves the strip and one
/// where it comes back.
fn write_cut(svg: &mut String, [from, to]: [f64; 2], top: f64, colour: &str) -> Result {
    let middle = 0.5 * (from + to);
    let arrows = if to - from < ARROWS_APART { vec![middle] } else { vec![from, to] };
    for x in arrows {
        write_arrow(svg, [x, top], colour)?;
    }
    Ok(())
}

/// An arrow that points up to the edge at which a curve is cut off.
fn write_arrow(svg: &mut String, [x, top]: [f64; 2], colour: &str) -> Result {
    writeln!(svg, "<path d=\"M{:.1} {:.1}h7l-3.5 -5.5z\" fill=\"{colour}\"/>", x - 3.5, top + 3.0)
}

fn write_legend(svg: &mut String, y: f64) -> Result {
    let mut x = LEFT;
    let mut entry = |svg: &mut String, sign: &str, text: &str| {
        let written = writeln!(
            svg,
            "<g transform=\"translate({x:.1} {y:.1})\">{sign}<text class=\"note\" x=\"26\" y=\"0\">\
             {text}</text></g>"
        );
        x += 26.0 + LEGEND_CHARACTER * text.chars().count() as f64 + 20.0;
        written
    };
    let curve = format!(
        "<rect y=\"-10\" width=\"20\" height=\"11\" fill=\"#bfe3df\"/><path d=\"M0 -10h20\" \
         stroke=\"{FROM_OBSTACLES}\" stroke-width=\"1.3\"/>"
    );
    entry(svg, &curve, "clearance from obstacles, mm (root scale)")?;
    let own = format!("<path d=\"M0 -4h20\" stroke=\"{FROM_LINKS}\" stroke-width=\"1.3\"/>");
    entry(svg, &own, "from other links")?;
    let mut cut = String::new();
    write_arrow(&mut cut, [10.0, -7.0], FROM_OBSTACLES)?;
    entry(svg, &cut, "more than 400 mm, cut off")?;
    let band =
        "<rect y=\"-10\" width=\"20\" height=\"11\" fill=\"#f97066\" fill-opacity=\"0.45\"/>";
    entry(svg, band, "contact")?;
    let between = "<path d=\"M10 -10l5 6l-5 6l-5 -6z\" fill=\"#7a1fa2\"/>";
    entry(svg, between, "contact between two frames: sampling missed it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let band = |name: &str, from_s, is_between_frames| Band {
            name: name.to_owned(),
            from_s,
            to_s: from_s + 0.1,
            is_between_frames,
        };
        let strip = Strip {
            name: "a <link> & more".to_owned(),
            clearance_m: vec![0.0, 0.1, 0.2, 0.1, 1e9],
            own_clearance_m: vec![0.3, f64::INFINITY, 0.2],
            bands: vec![band("ball", 0.2, false), band("wire", 0.22, true)],
            ..Strip::default()
        };
        let quiet = Strip { name: "base".to_owned(), ..Strip::default() };
        Chart { duration_s: 1.0, strips: vec![strip], quiet: Some(quiet) }
    }

    fn svg() -> String {
        let mut svg = String::new();
        chart().write(&mut svg, 0.0).unwrap();
        format!("<svg>{svg}</svg>")
    }

    #[test]
    fn the_chart_is_well_formed_and_shows_every_strip_and_contact() {
        let svg = svg();
        // A reader that checks that every tag is closed by its own.
        let mut reader = quick_xml::Reader::from_str(&svg);
        let mut texts = 0;
        while let event = reader.read_event().unwrap()
            && event != quick_xml::events::Event::Eof
        {
            if let quick_xml::events::Event::Start(tag) = event {
                texts += usize::from(tag.name().as_ref() == b"text");
            }
        }
        assert!(texts >= 10, "{texts}");
        assert!(svg.contains("a &lt;link&gt; &amp; more"));
        assert_eq!(svg.matches("class=\"band\"").count(), 1);
        assert_eq!(svg.matches("class=\"between\"").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn a_curve_that_leaves_its_strip_is_marked() {
        // One arrow is in the legend, one where the clearance ends, one where the other curve is
        // out of the strip for a single frame.
        assert_eq!(svg().matches("h7l-3.5 -5.5z").count(), 3);
    }

    /// The two contacts are 19 pixels apart, less than either name is wide.
    #[test]
    fn names_of_contacts_are_above_the_curves_and_side_by_side() {
        let svg = svg();
        let place = |class: &str| {
            let text = svg.split(class).nth(1).unwrap();
            let number = |key: &str| -> f64 {
                text.split(key).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
            };
            [number(" x=\""), number(" y=\"")]
        };
        let ([ball, ball_y], [wire, wire_y]) =
            (place("class=\"band\""), place("class=\"between\""));
        assert!(wire - ball > 4.0 * LABEL_CHARACTER, "{ball} {wire}");
        let top = LEGEND + NAMES;
        assert!(ball_y < top && wire_y < top, "{ball_y} {wire_y} {top}");
    }
}
