//! An XML text as a list of elements, in time that grows with its length: every element, attribute,
//! text and comment is a step, so whoever has gone is not read for. Elements are looked up by their
//! local names, and prefixes need not be declared: nothing is asked of a namespace.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use arrayvec::ArrayVec;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::attributes::{Attribute, Attributes};
use quick_xml::events::{BytesRef, Event};
use quick_xml::reader::Reader;

use crate::error::{RobotError, XmlError, shown};
use clearance_geometry::effort::Effort;

/// The elements of a text, the outermost first, each before those in it.
pub(super) struct Document<'x> {
    elements: Vec<ElementData<'x>>,
    attributes: Vec<AttributeData<'x>>,
}

/// An element: its tag and its attributes, and the elements around it by their places in the list.
pub(super) struct ElementData<'x> {
    /// Without its prefix.
    pub(super) tag: &'x str,
    /// What stands before the colon, or nothing.
    pub(super) prefix: &'x str,
    /// That of its `<`, counted from one.
    pub(super) line: u32,
    pub(super) parent: Option<usize>,
    pub(super) first_child: Option<usize>,
    pub(super) next_sibling: Option<usize>,
    attributes: Range<usize>,
    /// The first text in it, as it stands there.
    pub(super) text: &'x str,
}

struct AttributeData<'x> {
    /// With its prefix.
    name: &'x str,
    value: Cow<'x, str>,
}

impl<'x> Document<'x> {
    /// Reads a text of at most so many elements, texts, comments and instructions. A DTD is not
    /// allowed, so no entity can expand.
    pub(super) fn read(
        file: &'static str,
        text: &'x str,
        nodes_max: u32,
        effort: &mut Effort<'_>,
    ) -> Result<Self, XmlError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_comments = true;
        let document = Self { elements: Vec::new(), attributes: Vec::new() };
        let lines = Lines { text, counted: 0, line: 1 };
        let open = Vec::new();
        let mut reading = Reading { file, text, lines, document, open, nodes_left: nodes_max };
        loop {
            effort.spend_step()?;
            let start = place(reader.buffer_position());
            let event = match reader.read_event() {
                Ok(Event::Eof) => break,
                Ok(event) => event,
                Err(error) => {
                    return Err(reading.bad(place(reader.error_position()), &error.to_string()));
                }
            };
            let end = place(reader.buffer_position());
            reading.take(&event, start..end, effort)?;
        }
        reading.end()
    }

    /// The outermost element.
    pub(super) fn root(&self) -> usize {
        0
    }

    /// The element at a place in the list.
    pub(super) fn element(&self, index: usize) -> &ElementData<'x> {
        &self.elements[index]
    }

    /// All elements, each before those in it.
    pub(super) fn elements(&self) -> &[ElementData<'x>] {
        &self.elements
    }

    /// The names of an element's attributes, with their prefixes.
    pub(super) fn attribute_names(&self, index: usize) -> impl Iterator<Item = &'x str> + '_ {
        self.attributes[self.elements[index].attributes.clone()].iter().map(|found| found.name)
    }

    /// An attribute of an element, by its name as the text has it.
    pub(super) fn attribute(&self, index: usize, name: &str) -> Option<&str> {
        let of_element = &self.attributes[self.elements[index].attributes.clone()];
        of_element.iter().find(|attribute| attribute.name == name).map(|found| &*found.value)
    }
}

/// Counts lines up to places that mostly come in ascending order, each part of the text once.
struct Lines<'x> {
    text: &'x str,
    counted: usize,
    line: u32,
}

impl Lines<'_> {
    /// The line of a place, counted from one.
    fn at(&mut self, place: usize) -> u32 {
        if place < self.counted {
            (self.counted, self.line) = (0, 1);
        }
        let place = place.min(self.text.len());
        let between = &self.text.as_bytes()[self.counted..place];
        let ends = between.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
        self.counted = place;
        self.line
    }
}

/// A text that is being read.
struct Reading<'x> {
    file: &'static str,
    text: &'x str,
    lines: Lines<'x>,
    document: Document<'x>,
    /// The elements that are not closed yet, the outermost first, each with its last child so far.
    open: Vec<(usize, Option<usize>)>,
    nodes_left: u32,
}

impl<'x> Reading<'x> {
    /// Takes up what stands at a range of the text.
    fn take(
        &mut self,
        event: &Event<'_>,
        at: Range<usize>,
        effort: &mut Effort<'_>,
    ) -> Result<(), XmlError> {
        match event {
            Event::Start(tag) => {
                let index = self.element(at, tag.name().as_ref().len(), effort)?;
                self.open.push((index, None));
            }
            Event::Empty(tag) => {
                self.element(at, tag.name().as_ref().len(), effort)?;
            }
            // That it is the end of the innermost one is checked by the reader.
            Event::End(_) => {
                self.open.pop();
            }
            Event::Text(text) => {
                self.count_node(at.start)?;
                let (given, outside) = (&self.text[at.clone()], !text.trim_ascii().is_empty());
                match self.open.last() {
                    Some((index, _)) => {
                        let of_element = &mut self.document.elements[*index].text;
                        *of_element = if of_element.is_empty() { given } else { of_element };
                    }
                    None if outside => {
                        let problem = "there is text outside of the outermost element";
                        return Err(self.bad(at.start, problem));
                    }
                    None => {}
                }
            }
            Event::CData(_) | Event::GeneralRef(_) if self.open.is_empty() => {
                return Err(self.bad(at.start, "there is text outside of the outermost element"));
            }
            Event::GeneralRef(reference) => {
                if !is_known(reference) {
                    let named = shown(&self.text[at.clone()]);
                    return Err(self.bad(at.start, &format!("the entity {named} is not known")));
                }
            }
            Event::CData(_) | Event::Comment(_) | Event::PI(_) => self.count_node(at.start)?,
            Event::DocType(_) => {
                return Err(self.bad(at.start, "a DTD is not allowed, for entities can expand"));
            }
            Event::Decl(_) | Event::Eof => {}
        }
        Ok(())
    }

    /// Adds an element that stands at a range of the text, with a name of so many bytes.
    fn element(
        &mut self,
        at: Range<usize>,
        name_length: usize,
        effort: &mut Effort<'_>,
    ) -> Result<usize, XmlError> {
        self.count_node(at.start)?;
        let start = at.start;
        // Between its `<` and its `>`.
        let inner = &self.text[at.start + 1..at.end - 1];
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        let name = &inner[..name_length];
        if !is_name(name) {
            return Err(self.bad(start, &format!("{:?} is no name of an element", shown(name))));
        }
        let index = self.document.elements.len();
        let parent = self.open.last().map(|(parent, _)| *parent);
        if parent.is_none() && index > 0 {
            return Err(self.bad(start, "there is more than one outermost element"));
        }
        let attributes = self.attributes(inner, name_length, start, effort)?;
        let elements = &mut self.document.elements;
        if let Some((parent, last)) = self.open.last_mut() {
            match last.replace(index) {
                Some(before) => elements[before].next_sibling = Some(index),
                None => elements[*parent].first_child = Some(index),
            }
        }
        let (prefix, tag) = name.rsplit_once(':').unwrap_or(("", name));
        let line = self.lines.at(start);
        let (first_child, next_sibling, text) = (None, None, "");
        let element =
            ElementData { tag, prefix, line, parent, first_child, next_sibling, attributes, text };
        self.document.elements.push(element);
        Ok(index)
    }

    /// Adds the attributes of an element; `inner` is what stands between its brackets.
    fn attributes(
        &mut self,
        inner: &'x str,
        name_length: usize,
        start: usize,
        effort: &mut Effort<'_>,
    ) -> Result<Range<usize>, XmlError> {
        let first = self.document.attributes.len();
        let (mut given, mut names) =
            (Attributes::new(inner, name_length), DistinctNames::default());
        // It would compare names in its own way; see there.
        for attribute in given.with_checks(false) {
            effort.spend_step()?;
            let attribute = attribute.map_err(|error| self.bad(start, &error.to_string()))?;
            let read = self.attribute(&attribute, start)?;
            if !names.add(read.name) {
                let problem = format!("the attribute {:?} is there twice", shown(read.name));
                return Err(self.bad(start, &problem));
            }
            self.document.attributes.push(read);
        }
        Ok(first..self.document.attributes.len())
    }

    fn attribute(
        &mut self,
        given: &Attribute<'x>,
        start: usize,
    ) -> Result<AttributeData<'x>, XmlError> {
        let name = std::str::from_utf8(given.key.into_inner()).unwrap_or_default();
        if !is_name(name) {
            return Err(self.bad(start, &format!("{:?} is no name of an attribute", shown(name))));
        }
        if given.value.contains(&b'<') {
            let problem = format!("the attribute {:?} has a < in it", shown(name));
            return Err(self.bad(start, &problem));
        }
        let value = given.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| {
            self.bad(start, &format!("the attribute {:?}: {error}", shown(name)))
        })?;
        Ok(AttributeData { name, value })
    }

    fn count_node(&mut self, start: usize) -> Result<(), XmlError> {
        match self.nodes_left.checked_sub(1) {
            Some(left) => {
                self.nodes_left = left;
                Ok(())
            }
            None => Err(self.bad(start, "there are more nodes than are allowed")),
        }
    }

    /// The document, if all of it was there.
    fn end(mut self) -> Result<Document<'x>, XmlError> {
        if let Some((innermost, _)) = self.open.last() {
            let ElementData { tag, line, .. } = self.document.elements[*innermost];
            let problem = format!("the element {:?} is not closed", shown(tag));
            return Err(self.at_line(line, &problem));
        }
        if self.document.elements.is_empty() {
            return Err(self.bad(self.text.len(), "there is no element"));
        }
        Ok(self.document)
    }

    /// What is wrong at a place of the text.
    fn bad(&mut self, place: usize, problem: &str) -> XmlError {
        let line = self.lines.at(place);
        self.at_line(line, problem)
    }

    fn at_line(&self, line: u32, problem: &str) -> XmlError {
        /// Messages of the reader repeat names of the text.
        const CHARACTERS_MAX: usize = 300;
        let problem: String = problem.chars().take(CHARACTERS_MAX).collect();
        let place = String::new();
        RobotError { file: self.file, line, place, problem: problem.into() }.into()
    }
}

/// DistinctNames that are all different: a few in a list, many in a set, in which one is found
/// soon.
#[derive(Default)]
struct DistinctNames<'x> {
    few: ArrayVec<&'x str, 16>,
    many: BTreeSet<&'x str>,
}

impl<'x> DistinctNames<'x> {
    /// Adds a name; false: it is there already.
    fn add(&mut self, name: &'x str) -> bool {
        if self.few.contains(&name) {
            return false;
        }
        self.few.try_push(name).is_ok() || self.many.insert(name)
    }
}

/// A place in a text, which is no longer than memory.
fn place(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Whether a reference is to a character or to one of the five entities that every text knows.
fn is_known(reference: &BytesRef<'_>) -> bool {
    let is_character = matches!(reference.resolve_char_ref(), Ok(Some(_)));
    let name = reference.decode();
    is_character || name.is_ok_and(|name| resolve_predefined_entity(&name).is_some())
}

/// Whether a text may be the name of an element or an attribute, nearly as XML has it: of what is
/// not ASCII all is taken.
fn is_name(text: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':') || !c.is_ascii();
    let follows = |c: char| begins(c) || c.is_ascii_digit() || matches!(c, '-' | '.');
    text.starts_with(begins) && text.chars().all(follows)
}
