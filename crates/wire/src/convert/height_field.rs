//! Height fields: what is given of one, or of a patch of one, checked, and made a body.

use super::catalogue::Catalogue;
use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::Body;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::HullError;
use clearance_geometry::terrain::{Diagonal, HeightField, HeightFieldError, HeightPatch, Lattice};
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use clearance_runtime::store::Stored;
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

/// Other heights for some vertices of a registered field, as they were given.
#[derive(Clone, Debug)]
pub struct AskedPatch {
    base: Arc<Stored>,
    patch: HeightPatch,
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

impl AskedPatch {
    /// Looks up what is patched, and checks that it is a field with these vertices.
    pub fn convert(
        path: &Path<'_>,
        wire: &api::HeightPatch,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        use api::height_patch::Base;
        let (base_path, base) = match &wire.base {
            None => return Err(path.field("id").bad("needs id or alias").into()),
            Some(Base::Id(id)) => {
                let path = path.field("id");
                (path, catalogue.by_id(&path, id)?)
            }
            Some(Base::Alias(alias)) => {
                let path = path.field("alias");
                (path, catalogue.by_alias(&path, alias)?)
            }
        };
        let Some(of) = base.body.height_field() else {
            return Err(base_path.bad("names what is no height field").into());
        };
        let &api::HeightPatch { row, column, rows, columns, .. } = wire;
        let patch =
            HeightPatch { at: [row, column], size: [rows, columns], heights: wire.heights.clone() };
        patch.check(of.lattice()).map_err(|why| bad_field(path, of.lattice(), why))?;
        Ok(Self { base, patch, field: path.to_string() })
    }

    /// Heights that are given.
    pub(super) fn size(&self) -> usize {
        self.patch.heights.len()
    }

    /// What it takes to make a body of it, bytes: all of the field once more, and the patch.
    pub(super) fn working_bytes(&self) -> u64 {
        self.base.memory_bytes + (size_of::<f32>() * self.patch.heights.len()) as u64
    }

    /// The body; takes a while where the field is large.
    pub(super) fn build(self, effort: &Effort<'_>) -> Result<(Body, Counted), UnmadeField> {
        let Self { base, patch, field } = self;
        let Some(of) = base.body.height_field() else {
            return Err(Failure::from(Path::ROOT.bad("is no height field")).into());
        };
        let mut made = HeightField::clone(of);
        let lattice = *made.lattice();
        made.patch(&patch).map_err(|why| Failure::from(named(&field, &lattice, why)))?;
        effort.look_at_clock().map_err(HullError::from)?;
        let given = patch.heights.len() as u64;
        Ok((Body::of_height_field(Arc::new(made))?, Counted { given, dropped: 0 }))
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
        HeightFieldError::Heights { .. } => "heights".to_owned(),
        HeightFieldError::Patch { at, size, .. } => {
            // The first that leads beyond the field.
            let leaves = |k: usize, most: u32| u64::from(at[k]) + u64::from(size[k]) > most.into();
            let ways = [("rows", size[0] == 0), ("columns", size[1] == 0)];
            let none = ways.into_iter().find(|(_, is_none)| *is_none).map(|(name, _)| name);
            let beyond = if leaves(0, lattice.rows) { "rows" } else { "columns" };
            none.unwrap_or(beyond).to_owned()
        }
        HeightFieldError::Height { at } => format!("heights[{at}]"),
        HeightFieldError::Hole { at, .. } => format!("holes[{at}]"),
        HeightFieldError::Empty => "holes".to_owned(),
    };
    BadField { field: format!("{path}.{of}"), problem: why.to_string().into() }
}
