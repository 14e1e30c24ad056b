//! An XML file as elements that know their lines: numbers, names and what is wrong with them.

mod document;

use std::borrow::Cow;

use self::document::Document;
use super::error::{RobotError, XmlError, shown};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

/// No length or coordinate of a description is larger, metres.
pub(super) const LENGTH_MAX: f64 = 1e6;

/// A file whose elements are known.
pub(super) struct XmlFile<'x> {
    /// `URDF`, `SRDF` or `COLLADA`.
    file: &'static str,
    document: Document<'x>,
}

/// An element of it.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    xml: &'a XmlFile<'a>,
    /// Its place in the document.
    index: usize,
}

impl<'x> XmlFile<'x> {
    /// Parses the text.
    pub(super) fn parse(
        file: &'static str,
        text: &'x str,
        nodes_max: u32,
        effort: &mut Effort<'_>,
    ) -> Result<Self, XmlError> {
        Ok(Self { file, document: Document::read(file, text, nodes_max, effort)? })
    }

    /// The outermost element, which must have this tag.
    pub(super) fn root(&self, tag: &str) -> Result<Element<'_>, RobotError> {
        let root = Element { xml: self, index: self.document.root() };
        if root.tag() == tag {
            Ok(root)
        } else {
            let other = if tag == "robot" { other_format(root.tag()) } else { "" };
            Err(root.bad(format!("the outermost element must be {tag}{other}")))
        }
    }

    /// All elements, each before those in it.
    pub(super) fn all(&self) -> impl Iterator<Item = Element<'_>> {
        (0..self.document.elements().len()).map(|index| Element { xml: self, index })
    }
}

/// What is said of a file whose outermost element is that of another format of robots.
fn other_format(tag: &str) -> &'static str {
    match tag {
        "sdf" => ": SDF is not read, give the robot as URDF",
        "mujoco" => ": MJCF is not read, give the robot as URDF",
        _ => "",
    }
}

impl XmlFile<'_> {
    /// The first element with this prefix, wherever it is.
    pub(super) fn with_prefix(
        &self,
        prefix: &str,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Element<'_>>, XmlError> {
        for (index, element) in self.document.elements().iter().enumerate() {
            effort.look_at_clock()?;
            if element.prefix == prefix {
                return Ok(Some(Element { xml: self, index }));
            }
        }
        Ok(None)
    }
}

impl<'a> Element<'a> {
    /// All of its child elements.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> + 'a {
        let (xml, document) = (self.xml, &self.xml.document);
        let first = document.element(self.index).first_child;
        let next = move |index: &usize| document.element(*index).next_sibling;
        std::iter::successors(first, next).map(move |index| Self { xml, index })
    }

    /// Its children with this tag.
    pub(super) fn children(self, tag: &'a str) -> impl Iterator<Item = Self> + 'a {
        self.elements().filter(move |child| child.tag() == tag)
    }

    /// Its first child with this tag.
    pub(super) fn child(self, tag: &'a str) -> Option<Self> {
        self.children(tag).next()
    }

    /// The first of its attributes that is none of these; those with a prefix are for others.
    pub(super) fn unknown_attribute(&self, known: &[&str]) -> Option<&'a str> {
        let mut names = self.xml.document.attribute_names(self.index);
        names.find(|name| !known.contains(name) && !name.contains(':') && *name != "xmlns")
    }

    /// Its tag.
    pub(super) fn tag(&self) -> &'a str {
        self.xml.document.element(self.index).tag
    }

    /// The text in it, up to the first element or comment.
    pub(super) fn content(&self) -> &'a str {
        self.xml.document.element(self.index).text
    }

    /// Whether it has a prefix, and is of another namespace.
    pub(super) fn has_prefix(&self) -> bool {
        !self.xml.document.element(self.index).prefix.is_empty()
    }

    /// An attribute.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.xml.document.attribute(self.index, name)
    }

    /// An attribute that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&'a str, RobotError> {
        self.text(name).ok_or_else(|| self.bad(format!("needs the attribute {name}")))
    }

    /// A finite number; missing: the default, and without one an error.
    pub(super) fn number(&self, name: &str, default: Option<f64>) -> Result<f64, RobotError> {
        match (self.text(name), default) {
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.bad(format!("needs the attribute {name}"))),
            (Some(text), _) => self.parsed(name, text),
        }
    }

    /// A length, metres: not negative. Many files have balls and boxes of no size: points.
    pub(super) fn length(&self, name: &str) -> Result<f64, RobotError> {
        let value = self.number(name, None)?;
        if (0.0..=LENGTH_MAX).contains(&value) {
            Ok(value)
        } else {
            let problem = format!("{name} must not be negative, and at most {LENGTH_MAX} metres");
            Err(self.bad(problem))
        }
    }

    /// Three finite numbers of at most [`LENGTH_MAX`]; missing: the default.
    pub(super) fn vector(&self, name: &str, default: Vec3) -> Result<Vec3, RobotError> {
        Ok(self.numbers::<3>(name, "three")?.map_or(default, Vec3::from))
    }

    /// So many finite numbers of at most [`LENGTH_MAX`], if the attribute is there.
    pub(super) fn numbers<const N: usize>(
        &self,
        name: &str,
        how_many: &str,
    ) -> Result<Option<[f64; N]>, RobotError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let (mut words, mut numbers) = (text.split_whitespace(), [0.0; N]);
        for number in &mut numbers {
            let text =
                words.next().ok_or_else(|| self.bad(format!("{name} needs {how_many} numbers")));
            *number = self.parsed(name, text?)?;
            if number.abs() > LENGTH_MAX {
                return Err(self.bad(format!("{name}: a number is larger than {LENGTH_MAX}")));
            }
        }
        match words.next() {
            None => Ok(Some(numbers)),
            Some(_) => Err(self.bad(format!("{name} needs {how_many} numbers, not more"))),
        }
    }

    fn parsed(&self, name: &str, text: &str) -> Result<f64, RobotError> {
        match text.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.bad(format!("{name}: {:?} is no finite number", shown(text)))),
        }
    }

    /// Its line in the file, counted from one.
    pub(super) fn line(&self) -> u32 {
        self.xml.document.element(self.index).line
    }

    /// What is wrong with it, with its line and path.
    pub(super) fn bad(&self, problem: impl Into<Cow<'static, str>>) -> RobotError {
        // The path of a deep element is cut in front: its last steps name it well enough.
        let mut steps: Vec<String> = std::iter::successors(Some(*self), Self::parent)
            .take(4)
            .map(|one| one.step())
            .collect();
        steps.reverse();
        let place = format!("{}: ", steps.join("/"));
        RobotError { file: self.xml.file, line: self.line(), place, problem: problem.into() }
    }

    fn parent(&self) -> Option<Self> {
        let parent = self.xml.document.element(self.index).parent;
        parent.map(|index| Self { xml: self.xml, index })
    }

    /// The element in a path: its tag, and its name if it has one.
    fn step(&self) -> String {
        let tag = shown(self.tag());
        match self.text("name") {
            Some(name) if self.parent().is_some() => format!("{tag}[{}]", shown(name)),
            _ => tag,
        }
    }
}
