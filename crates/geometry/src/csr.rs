//! Compressed rows: many short lists of `u32` in two flat arrays.

/// `row(i)` is `items[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Csr {
    fn default() -> Self {
        Self { starts: vec![0], items: Vec::new() }
    }
}

impl Csr {
    /// Rows in order.
    pub fn from_rows<R: AsRef<[u32]>>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut csr = Self::default();
        for row in rows {
            csr.push(row.as_ref());
        }
        csr
    }

    /// Appends one row.
    pub fn push(&mut self, row: &[u32]) {
        self.items.extend_from_slice(row);
        self.starts.push(u32::try_from(self.items.len()).expect("fewer than 2^32 items"));
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of items in all rows together.
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// Gives back the memory that it was only growing into.
    pub fn shrink(&mut self) {
        self.starts.shrink_to_fit();
        self.items.shrink_to_fit();
    }

    /// Memory that it takes beyond its own size.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(self.starts.as_slice()) + size_of_val(self.items.as_slice())
    }

    /// The items of row `i`.
    #[inline]
    pub fn row(&self, i: u32) -> &[u32] {
        let i = i as usize;
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> + '_ {
        self.starts.windows(2).map(|w| &self.items[w[0] as usize..w[1] as usize])
    }
}
