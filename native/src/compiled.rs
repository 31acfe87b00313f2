//! A `tokenizer.json` in compiled form: its tables as arrays, so that loading needs no parsing and no merge is looked up.
//!
//! Guarantees: what is loaded from a compiled form equals what is loaded from the file, warnings included. [`load`] takes
//! any bytes and never panics: what isn't whole, was made by another version or from another file, or doesn't fit
//! together gives `None`, and the caller reads the file. A checksum over everything finds damage, and each array is checked
//! again against the others. What a form holds is independent of how the tables look in memory, which are built anew.

mod parts;

use std::io::Read;

use parts::{Reader, Writer};

use crate::Result;
use crate::merges::{Merge, Merges, Rank};
use crate::tokenizer::Tokenizer;
use crate::tokenizer_json::TokenizerFile;
use crate::vocab::Vocab;

/// Says which code wrote a form. The number changes with what is written.
const STAMP: &str = concat!("hf_bpe ", env!("CARGO_PKG_VERSION"), ", compiled form 2");

/// The name of a file by its content: BLAKE3, so that nobody can make two files of one name.
pub type Digest = [u8; 32];

/// The digest of what `file` holds.
///
/// # Errors
/// Those of reading.
pub fn digest(file: impl Read) -> std::io::Result<Digest> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok(*hasher.finalize().as_bytes())
}

/// A tokenizer, the digest of the JSON that it was read from, and its compiled form.
pub struct Compiled {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The digest of the JSON.
    pub source: Digest,
    /// What [`load`] takes; `None` for a file that would not come out the same.
    pub form: Option<Vec<u8>>,
}

/// Reads the text of a `tokenizer.json`, and compiles it.
///
/// # Errors
/// As [`Tokenizer::from_json`].
pub fn compile(json: &[u8]) -> Result<Compiled> {
    let source = *blake3::hash(json).as_bytes();
    let file = TokenizerFile::parse(json)?;
    let head = file.head();
    let tokenizer = Tokenizer::from_file(file)?;
    let form = head.map(|head| write(&source, &head, &tokenizer));
    Ok(Compiled {
        tokenizer,
        source,
        form,
    })
}

fn write(source: &Digest, head: &str, tokenizer: &Tokenizer) -> Vec<u8> {
    let bpe = tokenizer.bpe();
    let (texts, ends, ids) = bpe.vocab.parts();
    let mut merges: Vec<_> = bpe.merges.iter().collect();
    merges.sort_unstable_by_key(|(_, _, merge)| merge.rank);
    let mut writer = Writer::new(STAMP);
    writer.bytes(source);
    writer.bytes(head.as_bytes());
    writer.bytes(texts);
    writer.numbers(ends.iter().copied());
    writer.numbers(ids.iter().copied());
    writer.numbers(merges.iter().map(|&(left, _, _)| left));
    writer.numbers(merges.iter().map(|&(_, right, _)| right));
    writer.numbers(merges.iter().map(|(_, _, merge)| merge.id));
    // Nothing where they count from 0, as nearly always.
    let ranks = merges.iter().map(|(_, _, merge)| merge.rank);
    let is_counted = ranks.clone().eq(0..merges.len() as Rank);
    writer.numbers(ranks.take(if is_counted { 0 } else { merges.len() }));
    writer.bytes(&[u8::from(bpe.merges.need_heap())]);
    writer.finish()
}

/// The tokenizer of a compiled form, if `form` is whole and was made from the file `source` by this version.
pub fn load(form: &[u8], source: &Digest) -> Option<Tokenizer> {
    let mut reader = Reader::new(form, STAMP)?;
    if reader.bytes()? != source {
        return None;
    }
    let mut file = TokenizerFile::parse(reader.bytes()?).ok()?;
    let texts = reader.bytes()?.to_vec();
    file.vocab = Vocab::from_parts(
        texts,
        reader.numbers()?.iter().collect(),
        reader.numbers()?.iter().collect(),
    )?;
    let merges = read_merges(&mut reader, &file.vocab)?;
    reader.is_done().then_some(())?;
    Tokenizer::with_merges(file, merges).ok()
}

fn read_merges(reader: &mut Reader, vocab: &Vocab) -> Option<Merges> {
    let [lefts, rights, ids] = [reader.numbers()?, reader.numbers()?, reader.numbers()?];
    let ranks = reader.numbers()?;
    let need_heap = match reader.bytes()? {
        [0] => false,
        [1] => true,
        _ => return None,
    };
    let count = ids.len();
    let is_counted = ranks.len() == 0;
    let columns = [lefts, rights, ids];
    let fits = columns.iter().all(|column| column.len() == count)
        && (is_counted || ranks.len() == count)
        && columns
            .iter()
            .all(|column| column.iter().all(|id| vocab.has_id(id)))
        && ranks.iter().is_sorted_by(|rank, next| rank < next)
        && ranks.iter().last() != Some(Rank::MAX);
    let merge = |at: usize| {
        let rank = if is_counted { at as Rank } else { ranks.get(at) };
        let id = ids.get(at);
        ((lefts.get(at), rights.get(at)), Merge { rank, id })
    };
    fits.then(|| Merges::from_ids((0..count).map(merge)).with_heap(need_heap))
}

#[cfg(test)]
mod tests;
