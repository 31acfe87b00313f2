//! The table of a SentencePiece model: a trie over bytes, and the texts that its keys become.
//!
//! The format is a length in bytes, so many bytes of a double array (the crate Darts-clone of C++; each unit 32 bits),
//! and texts that each end in a zero byte. Stock reads it by the crate `spm_precompiled`, which panics on a damaged
//! table; here all of the trie that a key can reach is checked at load.

/// What a key of the trie becomes, by its first bytes.
#[derive(Debug)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    texts: String,
}

/// The distance from a node's place to its children's.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

fn label(unit: u32) -> u32 {
    unit & (1 << 31 | 0xff)
}

fn value(unit: u32) -> usize {
    (unit & !(1 << 31)) as usize
}

impl Charsmap {
    /// Reads the bytes of a table; the error says what is wrong with them.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let (size, rest) = bytes.split_first_chunk().ok_or("ends before its trie")?;
        let size = u32::from_le_bytes(*size) as usize / 4 * 4;
        let (trie, texts) = rest.split_at_checked(size).ok_or("ends within its trie")?;
        let units = trie.chunks_exact(4).filter_map(|unit| unit.try_into().ok());
        let charsmap = Self {
            units: units.map(u32::from_le_bytes).collect(),
            texts: String::from_utf8(texts.to_vec()).map_err(|_| "has texts that aren't UTF-8")?,
        };
        charsmap.check()?;
        Ok(charsmap)
    }

    /// Walks the whole trie; each node is seen once, so a loop ends the walk, too.
    fn check(&self) -> Result<(), &'static str> {
        let root = *self.units.first().ok_or("has no trie")?;
        let mut seen = vec![false; self.units.len()];
        let mut open = vec![offset(root)];
        while let Some(node) = open.pop() {
            // The children of a node, one for each byte, stand in one block.
            if node | 0xff >= self.units.len() {
                return Err("has a trie that leads out of itself");
            }
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            for byte in 1..=255 {
                let unit = self.units[node ^ byte as usize];
                if label(unit) != byte {
                    continue;
                }
                let child = node ^ byte as usize ^ offset(unit);
                let leaf = self.units.get(child).filter(|_| has_leaf(unit));
                if leaf.is_some_and(|leaf| self.texts.get(value(*leaf)..).is_none()) {
                    return Err("has a trie that leads out of its texts");
                }
                open.push(child);
            }
        }
        Ok(())
    }

    /// What `key` becomes, or nothing: as in stock, what its shortest beginning in the trie becomes.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let mut node = offset(*self.units.first()?);
        for byte in key.bytes().take_while(|byte| *byte != 0) {
            node ^= usize::from(byte);
            let unit = *self.units.get(node)?;
            if label(unit) != u32::from(byte) {
                return None;
            }
            node ^= offset(unit);
            if has_leaf(unit) {
                let text = self.texts.get(value(*self.units.get(node)?)..)?;
                return text.split('\0').next();
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with one key of one byte, "a", that becomes "bc".
    pub(crate) fn table() -> Vec<u8> {
        let mut units = vec![0_u32; 256];
        units[0] = 1 << 10;
        // Node 1; its child by 'a' is unit 0x60, whose leaf is unit 2.
        units[0x60] = ((0x60 ^ 2) << 10) | 1 << 8 | u32::from(b'a');
        units[2] = 1 << 31 | 2;
        let trie: Vec<u8> = units.into_iter().flat_map(u32::to_le_bytes).collect();
        [&1024_u32.to_le_bytes()[..], &trie, b"x\0bc\0"].concat()
    }

    #[test]
    fn a_key_becomes_the_text_of_its_shortest_beginning() {
        let charsmap = Charsmap::parse(&table()).unwrap();

        assert_eq!(charsmap.get("a"), Some("bc"));
        assert_eq!(charsmap.get("a\u{301}"), Some("bc"));
        assert_eq!(charsmap.get("b"), None);
        assert_eq!(charsmap.get("\0"), None);
        assert_eq!(charsmap.get(""), None);
    }

    #[test]
    fn damage_is_told() {
        let table = table();
        let broken = |at: usize, unit: u32| {
            let mut bytes = table.clone();
            bytes[4 + 4 * at..8 + 4 * at].copy_from_slice(&unit.to_le_bytes());
            Charsmap::parse(&bytes).unwrap_err()
        };

        assert_eq!(Charsmap::parse(&table[..3]).unwrap_err(), "ends before its trie");
        assert_eq!(
            Charsmap::parse(&table[..999]).unwrap_err(),
            "ends within its trie"
        );
        assert_eq!(Charsmap::parse(&[0; 4]).unwrap_err(), "has no trie");
        assert_eq!(broken(0, 256 << 10), "has a trie that leads out of itself");
        assert_eq!(broken(2, 1 << 31 | 7), "has a trie that leads out of its texts");
        let not_utf8 = [&table[..], b"\xff"].concat();
        assert_eq!(
            Charsmap::parse(&not_utf8).unwrap_err(),
            "has texts that aren't UTF-8"
        );
    }

    #[test]
    fn no_change_of_one_byte_makes_a_lookup_panic() {
        let table = table();
        for at in 0..table.len() {
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut bytes = table.clone();
                bytes[at] ^= change;
                if let Ok(charsmap) = Charsmap::parse(&bytes) {
                    for key in ["a", "aaaaa", "b", "\u{ffff}", "~\u{7f}"] {
                        assert!(charsmap.get(key).is_none_or(|text| text.len() < bytes.len()));
                    }
                }
            }
        }
    }

    #[test]
    fn a_trie_that_leads_back_into_itself_ends_the_walk() {
        let mut bytes = table();
        // The child of node 1 by 'a' is node 1.
        let unit = ((0x60 ^ 1) << 10) | u32::from(b'a');
        bytes[4 + 4 * 0x60..8 + 4 * 0x60].copy_from_slice(&unit.to_le_bytes());

        let charsmap = Charsmap::parse(&bytes).unwrap();

        assert_eq!(charsmap.get(&"a".repeat(1000)), None);
    }
}
