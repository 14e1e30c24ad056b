//! What scenes the benches are asked for, as a word: `10000:0.01:first_contacts:pace=50`.

/// A scene of bodies that drift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) bodies: u32,
    /// The share of them that moves in a frame.
    pub(crate) moving: f64,
    /// Whether first contacts are asked for.
    pub(crate) first_contacts: bool,
    /// The share of them that asks for first contacts of its own.
    pub(crate) chosen: f64,
    /// How many times a hundredth of its size a body goes in a frame.
    pub(crate) pace: f64,
}

impl Asked {
    /// `N:SHARE[:first_contacts][:chosen=SHARE][:pace=FACTOR]`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(':');
        let bodies = words.next()?.parse().ok()?;
        let moving = words.next()?.parse().ok()?;
        let mut asked = Self { bodies, moving, first_contacts: false, chosen: 0.0, pace: 1.0 };
        for word in words {
            match word.split_once('=') {
                Some(("pace", factor)) => asked.pace = factor.parse().ok()?,
                Some(("chosen", share)) => asked.chosen = share.parse().ok()?,
                Some(_) => return None,
                None => asked.first_contacts |= word == "first_contacts",
            }
        }
        Some(asked)
    }

    /// Whether the body at this place asks for first contacts of its own.
    pub(crate) fn is_chosen(&self, index: usize) -> bool {
        let before = |count: usize| (count as f64 * self.chosen) as usize;
        before(index + 1) > before(index)
    }
}
