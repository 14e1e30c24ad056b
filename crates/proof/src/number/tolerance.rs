//! How close counts as close where floating point searches for what exact arithmetic or an error
//! bound then proves. A tolerance here decides where a search looks, what it costs and when it
//! gives up; no proof rests on one.

/// The default width of the bracket of a first contact in t, before the clearance tolerance's
/// share: of a step of 1/60 s, 17 picoseconds.
pub const BRACKET_WIDTH: f64 = 1e-9;
/// The default clearance tolerance of a first contact, relative to the larger of size and world:
/// some hundred times the rounding of a place.
pub const CLEARANCE: f64 = 1e-13;
/// The least clearance tolerance that a search for turning bodies honours, relative to the larger
/// of size and world. The enclosure of a turned point is about as wide.
pub const CLEARANCE_LEAST: f64 = 1e-14;
/// Lengths below this one, in the units of a search, are rounded to zero: products of them would be
/// lost in underflow.
pub const LENGTH_LEAST: f64 = 1e-320;
/// Products of two gaps below this one are taken for unknown, because underflow may be a part of
/// them that counts.
pub const GAP_PRODUCT_LEAST: f64 = 1e-290;

/// So far beyond an end of a segment, as a part of it, the end is certainly the nearest point.
pub const SEGMENT_CLEAR: f64 = 1e-9;
/// The square of the sine of the angle of two segments above which a formula says where between
/// their ends they are nearest.
pub const SEGMENTS_CROSS: f64 = 1e-3;
/// Squares of the lengths of segments between these have products that can be written: of others a
/// formula says nothing.
pub const SEGMENT_SQUARES: [f64; 2] = [1e-150, 1e150];

/// A pair whose clearance no joint value changes by more than this, metres, is told apart from all
/// others.
pub const CONSTANT_WITHIN: f64 = 1e-6;
/// Points of a body that are no farther from an axis, metres, are taken to be on it while such
/// pairs are looked for; their bracket is made wider by as much.
pub const ON_AXIS: f64 = 1e-7;

/// A quaternion whose norm is less than this, or more than its inverse, is no rotation: squares of
/// its components would lose their digits, or overflow.
pub const QUATERNION_NORM_LEAST: f64 = 1e-100;
/// Every entry of `RᵀR - I` of a rotation given as a matrix is at most this: matrices in single
/// precision pass.
pub const ROTATION_ENTRY: f64 = 1e-6;
/// What rounding may take from the trace of a rotation by a quarter turn, which is 1: so much less
/// is not yet told to be a farther turn.
pub const QUARTER_TURN_NOISE: f64 = 1e-9;
/// What scaling by a power of two may cost a coordinate: it can only underflow, by less than this.
pub const SCALING_LOSS: f64 = 1e-300;
/// The sine of the angle between a unit vector and an axis above which a few roundings are a small
/// part of it.
pub const ACROSS_WELL: f64 = 1e-6;
/// A normal that is the cross product of two edges is used as rounded when it is longer than this
/// part of the body's coordinates times its longest edge: then all but five or six of its digits
/// are right.
pub const SHARP_NORMAL: f64 = 1e-5;
/// The difference of two closest points is used as rounded for a normal when a coordinate of it is
/// longer than this part of the points' coordinates: then twelve of its digits are right.
pub const APART_SHARP: f64 = 1e-3;
/// Corners of a contact polygon that are closer than this, relative to the larger body's size, are
/// one: a thousand times what clipping is off by.
pub const CORNER_MERGED: f64 = 1e-9;
/// How far beyond a side of a face a corner may be that is on it up to rounding, relative to the
/// larger body's size.
pub const CORNER_CLIPPED: f64 = 1e-13;
/// Half extents of which products of three neither overflow nor underflow lie between this and its
/// inverse.
pub const EXTENT_LEAST: f64 = 1e-90;
/// No half axis of an ellipsoid around or like a body is taken for shorter than this part of the
/// longest: flat bodies have normals, too.
pub const HALF_AXIS_LEAST: f64 = 1e-3;
/// By how much the half side of a start table's grid is made smaller, relative to itself: by more
/// than half a unit of its fixed point, for the smallest grid.
pub const GRID_INSET: f64 = 1e-4;
/// A normal, or a way out of faces, whose components all are smaller than this, where those of
/// others are about one, is taken for none.
pub const WAY_NONE: f64 = 1e-6;
/// A sum of normals of triangles, which cancel, whose components all are smaller than this says
/// little of a direction.
pub const NORMALS_CANCEL: f64 = 1e-3;

/// The default distance from its hull, relative to its largest extent, within which a mesh counts
/// as convex: ten times what the coordinates of files in single precision make of a convex solid.
pub const CONVEXITY: f64 = 1e-6;

/// How close rounded heights have to be for the exact ones to be compared, relative to the sizes of
/// the numbers that they are sums of: some thousand times what rounding can make of equal heights.
pub const LEVEL: f64 = 1e-12;

/// How well a distance is known, relative to itself, when a search for the nearest point needs the
/// corners around it: where a rough direction led nowhere, or where the corners are to hold the
/// origin.
pub const NEAREST_LOOSE: f64 = 1e-6;
/// How well a distance is known, relative to itself, where corners only come within a margin, so
/// that the distance itself is at stake: as many digits as there are.
pub const NEAREST_TIGHT: f64 = 1e-15;
/// Bodies that are closer than this, relative to their size, may have lost the direction of their
/// nearest point in rounding.
pub const DIRECTION_LOST: f64 = 1e-6;
/// How far M is drawn back, relative to the bodies' size, to find a direction where that of its
/// nearest point is lost in rounding: first far enough for any rounding, then closer to the truth.
pub const DRAWN_BACK: [f64; 2] = [1e-2, 1e-5];
/// Bodies that are farther apart than this, relative to their size, are not in contact: no wider
/// search for a proof of it is made.
pub const CONTACT_FAR: f64 = 1e-9;
/// A determinant of three corners whose size is below this part of the cube of the largest
/// coordinate may have either sign.
pub const DETERMINANT_DOUBT: f64 = 1e-12;
/// Directions that are slanted a little off a normal, for supports around the place of contact:
/// this much along the normal ...
pub const SLANT_ALONG: f64 = 1e-2;
/// ... and this much across it.
pub const SLANT_ACROSS: f64 = 1e-3;
/// The sine of the least angle between two edges that are said to cross each other.
pub const CROSSING_SINE: f64 = 1e-3;

/// The contract's relative width of a distance's bracket. A wider one goes to the exact stage.
pub const DISTANCE_WIDTH: f64 = 1e-12;
/// Bodies that are farther apart than this many times their size have closest points that the
/// search's own steps do not make accurate: measured, the first are off by 1e-7 of the size from
/// three thousand times on.
pub const FAR_POINTS: f64 = 64.0;
/// What a few roundings may take from how far boxes reach or are apart, relative to it.
pub const BOX_ROUNDING: f64 = 1e-14;
/// How much farther apart boxes around groups of triangles have to be for their direction, which is
/// rounded, to show it of what they hold: a thousand roundings of a coordinate.
pub const BOX_HAZE: f64 = 1e-13;
/// How far off the difference of the closest points of such bodies may be, relative to their size;
/// where that is not proven they come from the exact stage.
pub const POINT_ERROR: f64 = 1e-9;
/// A step of the search for the distance that promises less than this part of its square is not
/// taken: a hundredth of [`DISTANCE_WIDTH`], and some fifty roundings.
pub const DISTANCE_PROGRESS: f64 = 1e-14;
/// How far the two means of a common point may be from each other, relative to the size of M: some
/// fifty roundings. A tetrahedron that is too thin for that is solved in integers.
pub const COMMON_POINT_ERROR: f64 = 1e-14;
/// The relative width of the distance of a shell's face at which no integers are asked: a tenth of
/// [`DISTANCE_WIDTH`], and some five hundred roundings.
pub const FACE_HEIGHT_WIDTH: f64 = 1e-13;
/// The linear program says that two vertex sets meet once the product of its barrier and its
/// objective is below this, in units of about the scene's size (the paper's ε).
pub const PROGRAM_CONTACT: f64 = 1e-6;
/// How much more than one a placed rotation stretches at most, with room for the roundings of
/// forming a bound: its entries of RᵀR are those of a rotation within 1e-6, which is 2e-6 of a
/// length.
pub const STRETCH_ROOM: f64 = 1e-5;

/// An axis of the ellipsoids that guess where a ray enters is no shorter than this part of the
/// bodies' radii, so that flat bodies have normals, too.
pub const CAST_THINNEST: f64 = 1e-3;
/// The least square of the sine of the angle at which a ray is said to enter an ellipsoid. One that
/// misses is taken to pass at that angle.
pub const CAST_GRAZING: f64 = 4e-4;

/// The default width of the bracket of an edge's first contact, in its parameter from 0 to 1.
pub const EDGE_WIDTH: f64 = 1e-6;
/// How far bodies that overlap are drawn apart beyond their depth, relative to the smaller one, so
/// that the points where they are nearest can be measured: far enough for any rounding.
pub const DRAWN_APART: f64 = 1e-6;

/// The width of a depth's bracket, relative to the radius of the smaller body, that needs no search
/// in exact arithmetic.
pub const DEPTH_WIDTH: f64 = 1e-12;
/// How far the normal of a face of two edges has to be along the sum of the normals of the faces at
/// one of them, for its side to be known: those two are then no opposites.
pub const ARC_ENDS: f64 = 1e-9;
/// The least weight of a corner where a ray meets a triangle: nearer to an edge, the ray may meet
/// the next triangle instead, and another ray is taken.
pub const RAY_BESIDE_EDGE: f64 = 1e-9;
/// Where the distance of a triangle from a point is proven to be no less than this part below that
/// of the nearest point found, no other point of it is looked for.
pub const NEAREST_ROUGH: f64 = 1e-9;
/// A hull that is no wider than this part of its largest extent is looked at as its surface: its
/// rim has facets so narrow that their normals are lost in rounding.
pub const THIN: f64 = 1e-9;
/// By how much a joint value may be beyond its limits, relative to the largest of their range and
/// their sizes: some thousand roundings.
pub const LIMIT_SLACK: f64 = 1e-12;
/// By how much a number is moved outwards that is then told with four digits, relative to itself:
/// no less than half a unit of the last one.
pub const TOLD_DIGITS: f64 = 5e-4;
/// How far triangles may reach into a hull that is flush with them, relative to the largest extent:
/// faces of files in single precision are as flat as that.
pub const FLUSH_REACH: f64 = 1e-6;
/// How flat a face of a mesh is along which a piece may be cut, relative to the largest extent.
pub const FACE_FLAT: f64 = 1e-5;
/// A piece that stands out by less than this, relative to the largest extent of its mesh, is not
/// cut: what is left is about what a bracket of it can tell.
pub const PIECE_CONVEX: f64 = 1e-4;
/// How near to a plane corners count as in it while cuts are ranked, relative to the largest
/// extent.
pub const SLICED_IN_PLANE: f64 = 1e-9;
/// How far beside a triangle a column of a grid may be that still goes through it, relative to its
/// edges, so that none slips through between two.
pub const COLUMN_BESIDE: f64 = 1e-9;
/// No less than what a distance loses in single precision, relative to the largest extent.
pub const STEP_SINGLE: f64 = 1e-6;
