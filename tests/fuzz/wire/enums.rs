//! Every choice of every message that the scripts send, made one that is none: whoever sends it is
//! told which field it was. The fields come from the descriptor, so one that no script reaches is
//! found, too.

use std::collections::BTreeSet;

use prost::encoding::{encode_varint, encoded_len_varint};
use prost_types::field_descriptor_proto::{Label, Type};

use super::interface::{Interface, JUDGED, WireField, refused_of};
use super::{METHODS, read, seeds};

/// No value of any enum.
const NONE_OF_THEM: u64 = 99;

/// Of an answer that is to be verified: how its search ended and why it has no certificate, which
/// says nothing about the bodies.
const OF_THE_SEARCH: [&str; 2] = ["stopped", "uncertified_reason"];

/// A message with one choice made wrong, and the field.
struct Changed {
    message: Vec<u8>,
    of: String,
    field: String,
}

impl Interface {
    /// The message, once for each enum field of it and of those in it, but for [`OF_THE_SEARCH`].
    fn with_wrong_choices(&self, kind: &str, message: &[u8]) -> Vec<Changed> {
        let Some(known) = self.messages.get(kind) else { return Vec::new() };
        let mut all = Vec::new();
        let is_choice =
            |name: &str, kind: Type| kind == Type::Enum && !OF_THE_SEARCH.contains(&name);
        for field in known.field.iter().filter(|field| is_choice(field.name(), field.r#type())) {
            let mut message = message.to_vec();
            encode_varint((field.number() as u64) << 3, &mut message);
            encode_varint(NONE_OF_THEM, &mut message);
            all.push(Changed { message, of: kind.to_owned(), field: field.name().to_owned() });
        }
        let fields = self.fields(kind, message);
        for WireField { about, at, content } in fields {
            if about.r#type() != Type::Message {
                continue;
            }
            for changed in self.with_wrong_choices(about.type_name(), content) {
                let length_at = at - encoded_len_varint(content.len() as u64);
                let mut outer = message[..length_at].to_vec();
                encode_varint(changed.message.len() as u64, &mut outer);
                outer.extend(&changed.message);
                outer.extend(&message[at + content.len()..]);
                all.push(Changed { message: outer, ..changed });
            }
        }
        all
    }

    /// The enum fields of all messages that a request may hold, but for what is of answers.
    fn choices(&self) -> BTreeSet<(String, String)> {
        let mut open: Vec<&String> = self.requests.values().collect();
        let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
        while let Some(kind) = open.pop() {
            let is_answer = kind.ends_with("Response") || kind.ends_with("Certificate");
            let Some(known) = self.messages.get(kind).filter(|_| !is_answer) else { continue };
            if !seen.insert(kind) {
                continue;
            }
            for field in &known.field {
                if field.r#type() == Type::Message {
                    open.push(field.type_name.as_ref().expect("a message's"));
                } else if field.r#type() == Type::Enum {
                    assert!(field.label() != Label::Repeated, "{kind}");
                    found.insert((kind.clone(), field.name().to_owned()));
                }
            }
        }
        found
    }
}

#[test]
fn every_choice_that_is_none_is_refused_with_the_path_of_its_field() {
    let interface = Interface::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut tried = BTreeSet::new();
    for script in seeds::scripts() {
        let calls = read(&script);
        for (at, (method, message)) in calls.iter().enumerate() {
            let name = METHODS[usize::from(*method)].0;
            let all = interface.with_wrong_choices(&interface.requests[name], message);
            for Changed { message, of, field } in all {
                let mut calls = calls.clone();
                calls[at].1 = message;
                let told = runtime.block_on(refused_of(&calls, at));
                let names_it = |path: &String| path == JUDGED || path.contains(&*field);
                assert!(told.iter().any(names_it), "{name}: {of}.{field}: told {told:?}");
                tried.insert((of, field));
            }
        }
    }
    let left: Vec<_> = interface.choices().into_iter().filter(|one| !tried.contains(one)).collect();
    assert!(left.is_empty(), "no script reaches {left:?}");
}
