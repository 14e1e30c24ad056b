//! The rules of the house that a test can hold: floors and rooms, headers of methods, sizes of
//! files and functions, names and tolerances, the map, the image.

mod bodies;
mod extents;
mod floors;
mod image;
mod limits;
mod map;
mod rooms;
mod source;
