//! Choices read from bytes. When there are no bytes left every choice is the first one, so any
//! input means something, and cutting an input short makes the case smaller.

/// What is left to read.
#[derive(Debug)]
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// In 0 .. `count`, at most 256.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub(crate) fn bits(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// In [-1, 1), from two bytes.
    pub(crate) fn signed(&mut self) -> f64 {
        f64::from(i16::from_le_bytes([self.byte(), self.byte()])) / 32768.0
    }

    /// A number such as people and trouble write: halves, fractions, neighbours of round numbers,
    /// powers of two, any bits.
    pub(crate) fn number(&mut self) -> f64 {
        let small = f64::from(self.byte() as i8) / 2.0;
        match self.below(16) {
            0..8 => small,
            8 | 9 => small + self.signed(),
            10 => small.next_up(),
            11 => small / 3.0,
            12 => self.signed() * power(self.of(&[-40, -20, -8, 8, 20, 40])),
            13 => small * power(self.of(&[-1074, -1022, -500, -60, 60, 500, 900, 950])),
            14 => small + power(self.of(&[-52, -53, -45, -30])),
            _ => f64::from_bits(self.bits()),
        }
    }
}

/// 2 to the `exponent`, which may be that of a subnormal number.
pub(crate) fn power(exponent: i32) -> f64 {
    // One power of -1074 would round to zero on the way.
    let half = exponent / 2;
    2f64.powi(half) * 2f64.powi(exponent - half)
}
