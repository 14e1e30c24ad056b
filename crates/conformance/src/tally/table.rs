//! The tally as a Markdown table, for the documentation.

use std::io::{self, Write};
use std::path::Path;

use super::{Family, Tally};

const HEAD: &str = "\
How the answers compare with exact references, family by family. *Width* is the widest bracket: \
of a distance or a depth relative to itself, of a first contact in fractions of the step. \
*Error* is the greatest distance of an end of a bracket from the reference, beyond the rounding \
of the reference and of the poses. *Wrong* counts verdicts, touching flags and numbers; *open* \
counts cases without a complete answer. *Exact* says of how many questions the floating-point \
filter left the decision to exact arithmetic: these families are made of hard cases. *Slowest* \
is a whole case, every question about it included, on the machine that wrote this.";

impl Tally {
    /// Writes the table of a run on `file`.
    pub(in super::super) fn write_table(&self, file: &Path, out: &mut dyn Write) -> io::Result<()> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        writeln!(out, "# Accuracy on {name}\n")?;
        writeln!(
            out,
            "<!-- in CI: conformance -->\n```sh\nclearance conformance {name} --table \
             docs/accuracy-cases.md\n```\n\n{HEAD}\n"
        )?;
        if cfg!(debug_assertions) {
            writeln!(out, "The build that wrote this is not optimised: its times say nothing.\n")?;
        }
        writeln!(
            out,
            "| family | cases | open | wrong | distance width | error | depth width | error \
             | time width | error | proofs | refused | exact | slowest, ms |"
        )?;
        writeln!(out, "|---|{}", "--:|".repeat(13))?;
        let mut total = Family::default();
        for (name, family) in &self.families {
            family.write_row(name, out)?;
            total.absorb(family);
        }
        total.write_row("all", out)
    }
}

impl Family {
    fn write_row(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        let number = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.1e}"));
        let wrong = self.wrong_verdicts + self.wrong_touching + self.undecided + self.wrong_numbers;
        writeln!(
            out,
            "| {name} | {} | {} | {wrong} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} |",
            self.cases,
            self.unanswered + self.incomplete,
            number(self.distance_width),
            number(self.distance_error),
            number(self.depth_width),
            number(self.depth_error),
            number(self.time_width),
            number(self.time_error),
            self.certificates,
            self.refused,
            self.exact_rate(),
            self.slowest_us / 1e3,
        )
    }
}
