//! What every picture begins with: its size, its style, a white ground, title and subtitle.
//! Plain SVG, written by hand.

use std::fmt::{Result, Write};

pub use quick_xml::escape::escape;

/// The head of a picture. Its style adds classes to `title` and `sub`, which every picture has.
#[derive(Debug)]
pub struct Head<'a> {
    /// In pixels.
    pub width: f64,
    /// In pixels.
    pub height: f64,
    /// The first line, in large letters.
    pub title: &'a str,
    /// The line below the title.
    pub subtitle: &'a str,
    /// Rules of CSS beside those that every picture has.
    pub style: &'a str,
}

const STYLE: &str = "text{font-family:Inter,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2933}\
.title{font-size:20px;font-weight:600}.sub{font-size:12.5px;fill:#52606d}";

impl Head<'_> {
    /// The whole file, its body written by `body`.
    pub fn file(&self, body: impl FnOnce(&mut String) -> Result) -> String {
        let mut svg = String::new();
        // Writing to a String cannot fail.
        let _ = self
            .write(&mut svg)
            .and_then(|()| body(&mut svg))
            .and_then(|()| writeln!(svg, "</svg>"));
        svg
    }

    fn write(&self, svg: &mut String) -> Result {
        let Self { width, height, style, .. } = self;
        let (title, subtitle) = (escape(self.title), escape(self.subtitle));
        writeln!(
            svg,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"
 width="{width}" height="{height}">
<title>{title}</title><style>{STYLE}{style}</style>
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text class="title" x="24" y="36">{title}</text>
<text class="sub" x="24" y="57">{subtitle}</text>"##
        )
    }
}
