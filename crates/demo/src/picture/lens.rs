//! The magnifying glass over the contact.

use std::fmt::{Result, Write};

use super::polyline;
use super::view::PictureExtent;
use clearance_drawing::escape;

/// How the picture's plane is placed on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    pub(super) pixels_per_m: f64,
    /// Where the origin of the plane is, pixels.
    pub(super) origin: [f64; 2],
}

/// How much larger things are in the lens.
const ZOOM: f64 = 5.5;
/// Radius of the lens, pixels; what it shows has this over [`ZOOM`] in the still.
const RADIUS: f64 = 168.0;

/// Classes of the lens.
pub(super) const STYLE: &str = ".lens{fill:none;stroke:#1f2933;stroke-width:1.3}\
.way{stroke:#1f2933;stroke-width:.7;stroke-opacity:.55}.what{font-size:13px;font-weight:600}";

/// A circle in which a part of the still is shown larger.
#[derive(Debug)]
pub(super) struct Lens {
    /// What is in the middle, on the picture's plane, metres.
    target: [f64; 2],
    /// Where that is in the still, pixels.
    here: [f64; 2],
    /// The middle of the lens, pixels.
    middle: [f64; 2],
    pixels_per_m: f64,
}

impl Screen {
    fn place(&self, point: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|axis| self.origin[axis] + self.pixels_per_m * point[axis])
    }

    /// Points of the plane as a path on the page.
    pub(super) fn path(&self, points: &[[f64; 2]]) -> String {
        let points: Vec<[f64; 2]> = points.iter().map(|point| self.place(*point)).collect();
        polyline::path(&points)
    }
}

impl Lens {
    /// A lens around `middle` on the page, over a point of the plane that `still` shows.
    pub(super) fn new(target: [f64; 2], still: &Screen, middle: [f64; 2]) -> Self {
        let pixels_per_m = ZOOM * still.pixels_per_m;
        Self { target, here: still.place(target), middle, pixels_per_m }
    }

    /// How the plane is placed in the lens.
    pub(super) fn screen(&self) -> Screen {
        let origin = [0, 1].map(|axis| self.middle[axis] - self.pixels_per_m * self.target[axis]);
        Screen { pixels_per_m: self.pixels_per_m, origin }
    }

    /// What of the plane can be in the lens.
    pub(super) fn extent(&self) -> PictureExtent {
        let reach = RADIUS / self.pixels_per_m;
        PictureExtent { low: self.target.map(|c| c - reach), high: self.target.map(|c| c + reach) }
    }

    /// Draws the small circle, the lines that lead from it to the lens, and the ground of the lens;
    /// what is drawn from here to [`Lens::write_rim`] is clipped.
    pub(super) fn write_way(&self, svg: &mut String) -> Result {
        let ([x, y], [here_x, here_y]) = (self.middle, self.here);
        let (small, [dx, dy]) = (RADIUS / ZOOM, [x - here_x, y - here_y]);
        let length = dx.hypot(dy);
        // The lines touch both circles from outside: the normal of such a line has this cosine with
        // the way from one middle to the other.
        let cosine = (RADIUS - small) / length;
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        for side in [-sine, sine] {
            let normal_x = (-cosine * dx - side * dy) / length;
            let normal_y = (-cosine * dy + side * dx) / length;
            writeln!(
                svg,
                "<path class=\"way\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
                here_x + small * normal_x,
                here_y + small * normal_y,
                x + RADIUS * normal_x,
                y + RADIUS * normal_y,
            )?;
        }
        writeln!(
            svg,
            "<circle class=\"lens\" cx=\"{here_x:.1}\" cy=\"{here_y:.1}\" r=\"{small:.1}\"/>\n\
             <clipPath id=\"glass\"><circle cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\"/></clipPath>\n\
             <circle cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" fill=\"#ffffff\"/>\n\
             <g clip-path=\"url(#glass)\">"
        )
    }

    /// Ends what is clipped, and draws the rim and the mark in the middle.
    pub(super) fn write_rim(&self, svg: &mut String) -> Result {
        let [x, y] = self.middle;
        let ring = |colour: &str, width: u8| {
            format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"9\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\"{width}\"/>"
            )
        };
        writeln!(
            svg,
            "</g><circle class=\"lens\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\"/>\n{}{}\
             <circle cx=\"{x}\" cy=\"{y}\" r=\"2\" fill=\"#b42318\"/>",
            ring("#ffffff", 4),
            ring("#b42318", 2),
        )
    }

    /// Writes lines of text below the lens.
    pub(super) fn write_lines(&self, svg: &mut String, lines: &[String]) -> Result {
        let [x, y] = self.middle;
        for (index, line) in lines.iter().enumerate() {
            let class = if index == 0 { "what" } else { "note" };
            let y = y + RADIUS + 26.0 + 18.0 * index as f64;
            let line = escape(line);
            let anchor = "text-anchor=\"middle\"";
            writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y:.1}\" {anchor}>{line}</text>")?;
        }
        Ok(())
    }
}
