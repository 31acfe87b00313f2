//! The bytes of a compiled form: a mark, a checksum of all that follows, then parts, each behind its length.

/// Every form begins with it.
const MARK: &[u8; 16] = b"hf_bpe compiled\n";
const CHECKSUM: usize = 32;

/// Writes parts one after the other.
pub struct Writer(Vec<u8>);

impl Writer {
    /// Begins a form that only [`Reader::new`] with the same stamp reads.
    pub fn new(stamp: &str) -> Self {
        let mut writer = Self([&MARK[..], &[0; CHECKSUM]].concat());
        writer.bytes(stamp.as_bytes());
        writer
    }

    /// Adds a part of bytes.
    pub fn bytes(&mut self, part: &[u8]) {
        self.length(part.len());
        self.0.extend_from_slice(part);
    }

    /// Adds a part of numbers.
    pub fn numbers(&mut self, part: impl ExactSizeIterator<Item = u32>) {
        self.length(4 * part.len());
        self.0.extend(part.flat_map(u32::to_le_bytes));
    }

    fn length(&mut self, length: usize) {
        self.0.extend_from_slice(&(length as u64).to_le_bytes());
    }

    /// The whole form.
    pub fn finish(mut self) -> Vec<u8> {
        let (head, rest) = self.0.split_at_mut(MARK.len() + CHECKSUM);
        head[MARK.len()..].copy_from_slice(blake3::hash(rest).as_bytes());
        self.0
    }
}

/// Numbers where they lie in a form: a copy would take as long as what is done with them.
#[derive(Clone, Copy)]
pub struct Numbers<'a>(&'a [[u8; 4]]);

impl Numbers<'_> {
    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// One of them.
    #[inline]
    pub fn get(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at])
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> {
        self.0.iter().map(|bytes| u32::from_le_bytes(*bytes))
    }
}

/// Reads the parts in the order in which they were written; `None` where one isn't there or isn't what it should be.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Checks the mark, the checksum and the stamp.
    pub fn new(form: &'a [u8], stamp: &str) -> Option<Self> {
        let rest = form.strip_prefix(MARK)?;
        let (checksum, rest) = rest.split_first_chunk::<CHECKSUM>()?;
        if blake3::hash(rest).as_bytes() != checksum {
            return None;
        }
        let mut reader = Self(rest);
        (reader.bytes()? == stamp.as_bytes()).then_some(reader)
    }

    /// The next part.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (part, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }

    /// The next part, as numbers.
    pub fn numbers(&mut self) -> Option<Numbers<'a>> {
        let (numbers, rest) = self.bytes()?.as_chunks::<4>();
        rest.is_empty().then_some(Numbers(numbers))
    }

    /// Whether nothing follows.
    pub fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}
