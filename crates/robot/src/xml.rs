//! An XML file as elements that know their lines: numbers, names and what is wrong with them.

use std::borrow::Cow;

use roxmltree::{Document, Node, ParsingOptions};

use super::RobotError;
use crate::geometry::Vec3;

/// No length or coordinate of a description is larger, metres.
pub(super) const LENGTH_MAX: f64 = 1e6;

/// One of the two files, parsed.
pub(super) struct XmlFile<'a> {
    /// `URDF` or `SRDF`.
    file: &'static str,
    document: Document<'a>,
}

/// An element of it.
#[derive(Clone, Copy)]
pub(super) struct Element<'a, 'x> {
    xml: &'a XmlFile<'x>,
    node: Node<'a, 'x>,
}

impl<'x> XmlFile<'x> {
    /// Parses the text; entities of the document's own are not allowed, so none can expand.
    pub(super) fn parse(
        file: &'static str,
        text: &'x str,
        nodes_max: u32,
    ) -> Result<Self, RobotError> {
        let options =
            ParsingOptions { allow_dtd: false, nodes_limit: nodes_max, ..Default::default() };
        match Document::parse_with_options(text, options) {
            Ok(document) => Ok(Self { file, document }),
            Err(error) => Err(RobotError {
                file,
                line: error.pos().row,
                place: String::new(),
                problem: Cow::Owned(error.to_string()),
            }),
        }
    }

    /// The outermost element, which must be `robot`.
    pub(super) fn robot(&self) -> Result<Element<'_, 'x>, RobotError> {
        let root = Element { xml: self, node: self.document.root_element() };
        if root.is("robot") {
            Ok(root)
        } else {
            Err(root.bad("the outermost element must be robot"))
        }
    }
}

impl<'a, 'x> Element<'a, 'x> {
    /// Whether this is its tag.
    pub(super) fn is(&self, tag: &str) -> bool {
        self.node.tag_name().name() == tag
    }

    /// Its children with this tag.
    pub(super) fn children(self, tag: &'a str) -> impl Iterator<Item = Self> + 'a
    where
        'x: 'a,
    {
        let elements = self.node.children().filter(Node::is_element);
        elements.map(move |node| Self { xml: self.xml, node }).filter(move |child| child.is(tag))
    }

    /// All of its child elements.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> + 'a
    where
        'x: 'a,
    {
        self.node.children().filter(Node::is_element).map(move |node| Self { xml: self.xml, node })
    }

    /// Its first child with this tag.
    pub(super) fn child(self, tag: &'a str) -> Option<Self> {
        self.children(tag).next()
    }

    /// Its tag.
    pub(super) fn tag(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// An attribute.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
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

    /// A length, metres: positive.
    pub(super) fn length(&self, name: &str) -> Result<f64, RobotError> {
        let value = self.number(name, None)?;
        if value > 0.0 && value <= LENGTH_MAX {
            Ok(value)
        } else {
            Err(self.bad(format!("{name} must be positive and at most {LENGTH_MAX} metres")))
        }
    }

    /// Three finite numbers of at most [`LENGTH_MAX`]; missing: the default.
    pub(super) fn vector(&self, name: &str, default: Vec3) -> Result<Vec3, RobotError> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let mut numbers = text.split_whitespace();
        let mut next = || {
            let text =
                numbers.next().ok_or_else(|| self.bad(format!("{name} needs three numbers")));
            let value = self.parsed(name, text?)?;
            if value.abs() <= LENGTH_MAX {
                Ok(value)
            } else {
                Err(self.bad(format!("{name}: a number is larger than {LENGTH_MAX}")))
            }
        };
        let vector = Vec3::new(next()?, next()?, next()?);
        match numbers.next() {
            None => Ok(vector),
            Some(_) => Err(self.bad(format!("{name} needs three numbers, not more"))),
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
        self.node.document().text_pos_at(self.node.range().start).row
    }

    /// What is wrong with it, with its line and path.
    pub(super) fn bad(&self, problem: impl Into<Cow<'static, str>>) -> RobotError {
        let line = self.xml.document.text_pos_at(self.node.range().start).row;
        // The path of a deep element is cut in front: its last steps name it well enough.
        let mut steps: Vec<String> =
            self.node.ancestors().filter(Node::is_element).take(4).map(step).collect();
        steps.reverse();
        let place = format!("{}: ", steps.join("/"));
        RobotError { file: self.xml.file, line, place, problem: problem.into() }
    }
}

/// An element in a path: its tag, and its name if it has one.
fn step(node: Node<'_, '_>) -> String {
    let tag = shown(node.tag_name().name());
    match node.attribute("name") {
        Some(name) if node.parent_element().is_some() => format!("{tag}[{}]", shown(name)),
        _ => tag,
    }
}

/// A text of a stranger, short enough for a message.
pub(super) fn shown(text: &str) -> String {
    const CHARACTERS_MAX: usize = 80;
    let mut short: String = text.chars().take(CHARACTERS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
