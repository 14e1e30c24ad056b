//! The picture: the cell at a contact ([`still`]), and below it the clearance of every link
//! over time ([`curves`]).

pub(super) mod curves;
mod lens;
mod painter;
mod polyline;
pub(super) mod still;
mod view;

use curves::Chart;
use still::{Drawing, Page, Still};

use clearance_drawing::Head;

/// What is drawn.
#[derive(Debug, Default)]
pub(super) struct Picture {
    /// Above everything.
    pub(super) title: String,
    /// Below the title, in small print.
    pub(super) subtitle: String,
    /// The cell at a contact; none if nothing ever was in contact.
    pub(super) still: Option<Still>,
    /// Clearance over time.
    pub(super) chart: Chart,
}

const WIDTH: f64 = 1240.0;
/// Height of the head above the still, pixels.
const HEAD: f64 = 76.0;
/// Height that the still takes, pixels.
const STILL: f64 = 600.0;

impl Picture {
    /// The whole SVG file.
    pub(super) fn svg(&self) -> String {
        let top = if self.still.is_some() { HEAD + STILL } else { HEAD };
        let style = [still::STYLE, lens::STYLE, curves::STYLE].concat();
        let head = Head {
            width: WIDTH,
            height: top + self.chart.height(),
            title: &self.title,
            subtitle: &self.subtitle,
            style: &style,
        };
        head.file(|svg| {
            if let Some(still) = &self.still {
                let page = Page {
                    low: [420.0, HEAD - 28.0],
                    high: [1216.0, top - 16.0],
                    lens: [210.0, HEAD + 200.0],
                };
                Drawing::new(still).write(svg, still, &page)?;
            }
            self.chart.write(svg, top)
        })
    }
}
