//! The picture: clearance over time, one strip a link, contacts shaded.

use std::fmt::Write;

use crate::drawing::{Head, escape};

/// What is drawn.
#[derive(Debug, Default)]
pub(super) struct Picture {
    /// Above everything.
    pub(super) title: String,
    /// Below the title, in small print.
    pub(super) subtitle: String,
    /// Seconds from the left edge to the right one.
    pub(super) duration_s: f64,
    /// From top to bottom.
    pub(super) strips: Vec<Strip>,
}

/// The strip of one link.
#[derive(Debug, Default)]
pub(super) struct Strip {
    /// The link.
    pub(super) name: String,
    /// To the right of the strip: for example the least clearance and with what.
    pub(super) notes: [String; 2],
    /// From obstacles, metres, evenly spread over the duration.
    pub(super) clearance_m: Vec<f64>,
    /// The same from the robot's other links.
    pub(super) own_clearance_m: Vec<f64>,
    /// Contacts in order of time.
    pub(super) bands: Vec<Band>,
}

/// A contact.
#[derive(Debug)]
pub(super) struct Band {
    /// With what.
    pub(super) name: String,
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    /// Not seen by the frames alone.
    pub(super) is_between_frames: bool,
}

const WIDTH: f64 = 1240.0;
const LEFT: f64 = 132.0;
const RIGHT: f64 = 1066.0;
const TOP: f64 = 112.0;
const STRIP: f64 = 74.0;
/// Part of a strip's height that is drawn in; the rest is air.
const INK: f64 = 60.0;
/// Clearance at the upper edge of a strip, metres; anything more is cut off there.
const CLEARANCE_SHOWN_M: f64 = 0.4;
/// Heights of the thin lines, metres.
const LINES_M: [f64; 4] = [0.01, 0.05, 0.1, 0.2];
/// Average width of a character of the small labels, pixels.
const LABEL_CHARACTER: f64 = 5.6;

const STYLE: &str = ".link{font-size:13.5px;font-weight:600}.note{font-size:11.5px;fill:#3e4c59}\
.tick{font-size:11px;fill:#7b8794}.scale{font-size:8.5px;fill:#9aa5b1}\
.band{font-size:10.5px;fill:#b42318;font-weight:600}\
.between{font-size:10.5px;fill:#7a1fa2;font-weight:600}";

impl Picture {
    /// The whole SVG file.
    pub(super) fn svg(&self) -> String {
        let bottom = TOP + STRIP * self.strips.len() as f64;
        let head = Head {
            width: WIDTH,
            height: bottom + 64.0,
            title: &self.title,
            subtitle: &self.subtitle,
            style: STYLE,
        };
        head.file(|svg| {
            write_legend(svg)?;
            self.write_seconds(svg, bottom)?;
            for (index, strip) in self.strips.iter().enumerate() {
                self.write_strip(svg, strip, TOP + STRIP * index as f64)?;
            }
            Ok(())
        })
    }

    fn write_seconds(&self, svg: &mut String, bottom: f64) -> std::fmt::Result {
        let mut second = 0.0;
        while second <= self.duration_s {
            let x = self.x(second);
            writeln!(
                svg,
                r##"<path d="M{x:.1} {TOP}V{bottom}" stroke="#e4e7eb"/><text class="tick" x="{x:.1}" y="{:.1}" text-anchor="middle">{second}</text>"##,
                bottom + 16.0,
            )?;
            second += 1.0;
        }
        let middle = 0.5 * (LEFT + RIGHT);
        writeln!(
            svg,
            r#"<text class="tick" x="{middle}" y="{:.1}" text-anchor="middle">time, seconds</text>"#,
            bottom + 36.0,
        )
    }

    fn write_strip(&self, svg: &mut String, strip: &Strip, top: f64) -> std::fmt::Result {
        let floor = top + INK;
        for line_m in LINES_M {
            let y = height_of(line_m, floor);
            writeln!(
                svg,
                r##"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="#eef0f2"/><text class="scale" x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"##,
                LEFT - 5.0,
                y + 3.0,
                line_m * 100.0,
            )?;
        }
        self.write_curve(svg, strip, floor)?;
        writeln!(svg, r##"<path d="M{LEFT} {floor}H{RIGHT}" stroke="#9aa5b1"/>"##)?;
        self.write_bands(svg, strip, top, floor)?;
        writeln!(
            svg,
            r#"<text class="link" x="24" y="{:.1}">{}</text>"#,
            top + 36.0,
            escape(&strip.name),
        )?;
        for (note, y) in strip.notes.iter().zip([top + 30.0, top + 45.0]) {
            let x = RIGHT + 14.0;
            writeln!(svg, r#"<text class="note" x="{x}" y="{y:.1}">{}</text>"#, escape(note))?;
        }
        Ok(())
    }

    fn write_curve(&self, svg: &mut String, strip: &Strip, floor: f64) -> std::fmt::Result {
        let line = self.points(&strip.clearance_m, floor).join("L");
        writeln!(
            svg,
            r##"<path d="M{LEFT} {floor}L{line}L{RIGHT} {floor}Z" fill="#bfe3df" fill-opacity="0.7"/><path d="M{line}" fill="none" stroke="#0f766e" stroke-width="1.4" stroke-linejoin="round"/>"##
        )?;
        // The other curve is drawn only where it is within the strip.
        let points = self.points(&strip.own_clearance_m, floor);
        let mut own = String::new();
        let mut pen = "M";
        for (point, clearance_m) in points.iter().zip(&strip.own_clearance_m) {
            let is_shown = *clearance_m < CLEARANCE_SHOWN_M;
            if is_shown {
                write!(own, "{pen}{point}")?;
            }
            pen = if is_shown { "L" } else { "M" };
        }
        writeln!(svg, r##"<path d="{own}" fill="none" stroke="#829ab1"/>"##)
    }

    /// The points of a curve.
    fn points(&self, clearance_m: &[f64], floor: f64) -> Vec<String> {
        let steps = clearance_m.len().saturating_sub(1).max(1) as f64;
        let point = |(index, clearance_m): (usize, &f64)| {
            let x = self.x(self.duration_s * index as f64 / steps);
            format!("{x:.1} {:.1}", height_of(*clearance_m, floor))
        };
        clearance_m.iter().enumerate().map(point).collect()
    }

    fn write_bands(
        &self,
        svg: &mut String,
        strip: &Strip,
        top: f64,
        floor: f64,
    ) -> std::fmt::Result {
        for band in &strip.bands {
            let (from, to) = (self.x(band.from_s), self.x(band.to_s));
            if band.is_between_frames {
                writeln!(
                    svg,
                    r##"<path d="M{from:.1} {top}V{floor}" stroke="#7a1fa2" stroke-width="1.3" stroke-dasharray="3 2"/><path d="M{from:.1} {:.1}l5 6l-5 6l-5 -6z" fill="#7a1fa2"/>"##,
                    floor - 6.0,
                )?;
            } else {
                writeln!(
                    svg,
                    r##"<rect x="{from:.1}" y="{top}" width="{:.1}" height="{INK}" fill="#f97066" fill-opacity="0.45"/>"##,
                    (to - from).max(2.0),
                )?;
            }
        }
        // Where the labels on each of three levels end, so that none is written over another.
        let mut taken = [f64::NEG_INFINITY; 3];
        for band in &strip.bands {
            let to = self.x(band.to_s);
            let label = escape(&band.name);
            let class = if band.is_between_frames { "between" } else { "band" };
            let width = LABEL_CHARACTER * band.name.len() as f64 + 6.0;
            let start = (to + 4.0).min(RIGHT - width);
            let level = taken.iter().position(|end| *end <= start).unwrap_or(2);
            taken[level] = start + width;
            let y = top + 9.0 + 12.0 * level as f64;
            writeln!(
                svg,
                r##"<rect x="{:.1}" y="{:.1}" width="{width:.1}" height="12" rx="2" fill="#ffffff" fill-opacity="0.8"/><text class="{class}" x="{start:.1}" y="{y:.1}">{label}</text>"##,
                start - 2.0,
                y - 9.0,
            )?;
        }
        Ok(())
    }

    fn x(&self, time_s: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * time_s / self.duration_s
    }
}

fn write_legend(svg: &mut String) -> std::fmt::Result {
    let y = 84.0;
    writeln!(
        svg,
        r##"<rect x="24" y="{}" width="20" height="11" fill="#bfe3df" stroke="#0f766e"/>
<text class="note" x="50" y="{y}">clearance from obstacles (square-root scale, marks in cm)</text>
<path d="M396 {}h20" stroke="#829ab1" stroke-width="1.2"/>
<text class="note" x="422" y="{y}">from other links</text>
<rect x="526" y="{}" width="20" height="11" fill="#f97066" fill-opacity="0.45"/>
<text class="note" x="552" y="{y}">contact</text>
<path d="M616 {}l5 6l-5 6l-5 -6z" fill="#7a1fa2"/>
<text class="note" x="628" y="{y}">contact between two frames, which sampling alone missed</text>"##,
        y - 10.0,
        y - 4.0,
        y - 10.0,
        y - 10.0,
    )
}

/// The height of a clearance above the floor of its strip: by its square root, which shows
/// millimetres and decimetres in one strip.
fn height_of(clearance_m: f64, floor: f64) -> f64 {
    floor - INK * (clearance_m / CLEARANCE_SHOWN_M).clamp(0.0, 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_well_formed_and_shows_every_strip_and_contact() {
        let band = |name: &str, from_s, is_between_frames| Band {
            name: name.to_owned(),
            from_s,
            to_s: from_s + 0.1,
            is_between_frames,
        };
        let strip = Strip {
            name: "a <link> & more".to_owned(),
            clearance_m: vec![0.0, 0.1, 1e9],
            own_clearance_m: vec![0.3, f64::INFINITY, 0.2],
            bands: vec![band("ball", 0.2, false), band("wire", 0.25, true)],
            ..Strip::default()
        };
        let picture = Picture { duration_s: 1.0, strips: vec![strip], ..Picture::default() };
        let svg = picture.svg();
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
}
