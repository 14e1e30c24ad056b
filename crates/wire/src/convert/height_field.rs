//! Height fields: what is given of one, checked, and made a body.

use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::Body;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::HullError;
use clearance_geometry::terrain::{Diagonal, HeightField, HeightFieldError, Lattice};
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use std::sync::Arc;

/// A height field as it was given, of which every list is as long as it must be.
#[derive(Clone, Debug)]
pub struct AskedField {
    lattice: Lattice,
    heights: Vec<f32>,
    holes: Vec<u32>,
    /// Where it was asked for.
    field: String,
}

/// Why a body was not made of a height field.
pub(super) enum UnmadeField {
    /// The box around it was not built.
    Hull(HullError),
    /// Anything else.
    Failed(Failure),
}

impl From<HullError> for UnmadeField {
    fn from(error: HullError) -> Self {
        Self::Hull(error)
    }
}

impl From<Failure> for UnmadeField {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl AskedField {
    /// Checks all but the heights themselves, and the holes. `uploaded`: the heights, of a field
    /// that is given without them.
    pub fn convert(
        path: &Path<'_>,
        wire: &api::HeightField,
        uploaded: Option<Vec<f32>>,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let diagonal = match path.field("diagonal").known(wire.diagonal)? {
            api::CellDiagonal::Unspecified => Diagonal::Rising,
            api::CellDiagonal::Falling => Diagonal::Falling,
        };
        let &api::HeightField { rows, columns, spacing_x, spacing_y, .. } = wire;
        let lattice = Lattice { rows, columns, spacing: [spacing_x, spacing_y], diagonal };
        let bad = |why: HeightFieldError| bad_field(path, &lattice, why);
        let expected = lattice.vertices().map_err(bad)?;
        path.field("rows").within(limits.heights_max(), expected)?;
        let heights_path = path.field("heights");
        let heights = match uploaded {
            None => wire.heights.clone(),
            Some(heights) if wire.heights.is_empty() => heights,
            Some(_) => return Err(heights_path.bad("must be left out, and come in chunks").into()),
        };
        if heights.len() != expected {
            let found = heights.len();
            return Err(bad(HeightFieldError::Heights { found, expected }).into());
        }
        path.field("holes").within(limits.heights_max(), wire.holes.len())?;
        let (holes, field) = (wire.holes.clone(), path.to_string());
        Ok(Self { lattice, heights, holes, field })
    }

    /// Heights that are given.
    pub(super) fn size(&self) -> usize {
        self.heights.len()
    }

    /// What it takes to make a body of it, bytes: its own lists, and those of the message.
    pub(super) fn working_bytes(&self) -> u64 {
        const EACH: u64 = 16;
        EACH * (self.heights.len() as u64 + self.holes.len() as u64)
    }

    /// The body; takes a while.
    pub(super) fn build(self, effort: &Effort<'_>) -> Result<(Body, Counted), UnmadeField> {
        let Self { lattice, heights, holes, field } = self;
        let given = heights.len() as u64;
        let made = HeightField::new(lattice, heights, &holes);
        let made = made.map_err(|why| Failure::from(named(&field, &lattice, why)))?;
        effort.look_at_clock().map_err(HullError::from)?;
        let kept = made.vertex_count() as u64;
        let body = Body::of_height_field(Arc::new(made))?;
        Ok((body, Counted { given, dropped: given - kept }))
    }
}

/// What became of the vertices of a field.
pub(super) struct Counted {
    pub(super) given: u64,
    /// Corners of no triangle.
    pub(super) dropped: u64,
}

fn bad_field(path: &Path<'_>, lattice: &Lattice, why: HeightFieldError) -> BadField {
    named(&path.to_string(), lattice, why)
}

/// With the path of the field to blame.
fn named(path: &str, lattice: &Lattice, why: HeightFieldError) -> BadField {
    let of = match why {
        HeightFieldError::Rows(_) | HeightFieldError::Count { .. } => "rows".to_owned(),
        HeightFieldError::Columns(_) => "columns".to_owned(),
        HeightFieldError::Spacing(spacing) => {
            let is_x = spacing.to_bits() == lattice.spacing[0].to_bits();
            if is_x { "spacing_x".to_owned() } else { "spacing_y".to_owned() }
        }
        HeightFieldError::Heights { .. } | HeightFieldError::Patch { .. } => "heights".to_owned(),
        HeightFieldError::Height { at } => format!("heights[{at}]"),
        HeightFieldError::Hole { at, .. } => format!("holes[{at}]"),
        HeightFieldError::Empty => "holes".to_owned(),
    };
    BadField { field: format!("{path}.{of}"), problem: why.to_string().into() }
}
