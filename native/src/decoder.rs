//! The `decoder` of a tokenizer.json: tokens to text.
//!
//! Guarantee: equal to stock's decoders (tokenizers 0.23.3) on token texts, with two exceptions on purpose. `ByteLevel`
//! keeps the text of an *added* token as it is; stock takes an added `café` for bytes, since each of its characters is in
//! the byte alphabet. And where stock panics (`Strip` on tokens that consist of what it strips) the obvious text comes out.
//!
//! As in stock, each step of a `Sequence` reads the list of tokens that the step before made, not their joined text.
//! Time is linear in the tokens for every kind of step but a `Replace` by regex, whose limits the engine sets.

mod bpe_decoder;
pub mod byte_fallback;
mod metaspace;
mod piece;
mod strip;
mod tokens;
mod word_piece;

use std::borrow::Cow;

use bpe_decoder::BpeDecoder;
use metaspace::Metaspace;
pub use piece::Piece;
use strip::Strip;
use tokens::Tokens;
use word_piece::WordPiece;

use crate::Result;
use crate::config::Node;
use crate::pattern::Replace;

/// The kinds that can run.
pub const SUPPORTED: &[&str] = &[
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "Fuse",
    "Metaspace",
    "Replace",
    "Sequence",
    "Strip",
    "WordPiece",
];

/// A decoder that can run: its steps, those of nested sequences in one row.
#[derive(Debug, Clone)]
pub struct Decoder {
    steps: Vec<Step>,
}

/// One step. A new kind is one file with its name, one arm here and one in each `match`.
#[derive(Debug, Clone)]
enum Step {
    /// A suffix becomes a space, or nothing in the last token.
    Bpe(BpeDecoder),
    /// `<0x0A>` and its like back to bytes.
    ByteFallback,
    /// The byte alphabet back to bytes, the bytes of all tokens to one text.
    ByteLevel,
    /// All tokens become one.
    Fuse,
    /// The stand-in for spaces back to spaces.
    Metaspace(Metaspace),
    /// A pattern replaced inside each token.
    Replace(Replace),
    /// A character taken off the ends of each token.
    Strip(Strip),
    /// Tokens without a prefix get a space in front.
    WordPiece(WordPiece),
}

impl Decoder {
    /// Reads the decoder at `node`.
    pub fn from_node(node: &Node) -> Result<Self> {
        let mut steps = Vec::new();
        read(node, &mut steps)?;
        Ok(Self { steps })
    }

    /// Whether the text is nothing but the bytes of all pieces in a row: then a stream can decode piece by piece.
    pub fn is_byte_level(&self) -> bool {
        matches!(self.steps.as_slice(), [Step::ByteLevel])
    }

    /// Whether the first thing that happens to a piece is that it becomes bytes.
    pub(crate) fn reads_bytes(&self) -> bool {
        matches!(self.steps.first(), Some(Step::ByteLevel))
    }

    /// The text of `pieces`.
    ///
    /// # Errors
    /// [`Error::SplitPattern`](crate::Error::SplitPattern): the regex of a `Replace` ran into its limits.
    pub fn decode<'a>(&self, pieces: impl IntoIterator<Item = Piece<'a>>) -> Result<String> {
        let (mut tokens, rest) = match self.steps.as_slice() {
            [Step::ByteLevel] => return Ok(join_bytes(pieces)),
            [Step::ByteLevel, rest @ ..] => (Tokens::one(join_bytes(pieces)), rest),
            steps => (pieces.into_iter().collect(), steps),
        };
        for step in rest {
            tokens = step.run(tokens)?;
        }
        Ok(tokens.into_text())
    }

    /// The bytes that `token` stands for in the middle of a text, so before all tokens are joined.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn token_bytes<'a>(&self, piece: Piece<'a>) -> Result<Cow<'a, [u8]>> {
        let empty = Piece::Token("");
        let mut tokens: Tokens = [empty, piece, empty].into_iter().collect();
        for step in &self.steps {
            match step {
                Step::Fuse => break,
                Step::ByteLevel => return Ok(Cow::Owned(tokens.piece(1).bytes().into_owned())),
                Step::ByteFallback => {
                    if let Some(byte) = byte_fallback::byte_of(tokens.piece(1).text()) {
                        return Ok(Cow::Owned(vec![byte]));
                    }
                }
                step => tokens = step.run(tokens)?,
            }
        }
        Ok(Cow::Owned(tokens.piece(1).text().as_bytes().to_vec()))
    }
}

fn read(node: &Node, steps: &mut Vec<Step>) -> Result<()> {
    steps.push(match node.kind()? {
        "BPEDecoder" => Step::Bpe(BpeDecoder::from_node(node)?),
        "ByteFallback" => Step::ByteFallback,
        "ByteLevel" => {
            // They change nothing here, but stock doesn't load a decoder without them.
            node.field("add_prefix_space")?.bool()?;
            node.field("trim_offsets")?.bool()?;
            Step::ByteLevel
        }
        "Fuse" => Step::Fuse,
        "Metaspace" => Step::Metaspace(Metaspace::from_node(node)?),
        "Replace" => Step::Replace(Replace::from_node(node)?),
        "Sequence" => {
            let inner = node.field("decoders")?;
            return inner.items()?.iter().try_for_each(|step| read(step, steps));
        }
        "Strip" => Step::Strip(Strip::from_node(node)?),
        "WordPiece" => Step::WordPiece(WordPiece::from_node(node)?),
        kind => return Err(node.unsupported(kind, SUPPORTED)),
    });
    Ok(())
}

impl Step {
    fn run(&self, tokens: Tokens) -> Result<Tokens> {
        match self {
            Self::Bpe(bpe) => Ok(bpe.run(&tokens)),
            Self::ByteFallback => Ok(byte_fallback::run(&tokens)),
            Self::ByteLevel => Ok(Tokens::one(join_bytes(tokens.pieces()))),
            Self::Fuse => Ok(Tokens::one(tokens.into_text())),
            Self::Metaspace(metaspace) => Ok(metaspace.run(&tokens)),
            Self::Replace(replace) => tokens.try_map(|_, token, text| {
                text.push_str(&replace.replace(token)?);
                Ok(())
            }),
            Self::Strip(strip) => Ok(strip.run(&tokens)),
            Self::WordPiece(word_piece) => Ok(word_piece.run(&tokens)),
        }
    }
}

/// The text of `pieces` by `decoder`; without one, tokens are joined by spaces, as stock does.
///
/// # Errors
/// As [`Decoder::decode`].
pub fn decode<'a>(decoder: Option<&Decoder>, pieces: impl IntoIterator<Item = Piece<'a>>) -> Result<String> {
    match decoder {
        Some(decoder) => decoder.decode(pieces),
        None => Ok(join_with_spaces(pieces)),
    }
}

fn join_bytes<'a>(pieces: impl IntoIterator<Item = Piece<'a>>) -> String {
    let mut bytes = Vec::new();
    for piece in pieces {
        piece.extend(&mut bytes);
    }
    text_of(bytes)
}

/// The text of bytes that may hold cut characters: each becomes U+FFFD, as in stock.
pub fn text_of(bytes: Vec<u8>) -> String {
    // Valid text, the usual case, keeps its buffer.
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn join_with_spaces<'a>(pieces: impl IntoIterator<Item = Piece<'a>>) -> String {
    let mut text = String::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(&piece.token());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: &Value) -> Result<Decoder> {
        Decoder::from_node(&Node::new("decoder", value))
    }

    fn sequence(steps: &[Value]) -> Decoder {
        read(&json!({"type": "Sequence", "decoders": steps})).unwrap()
    }

    fn byte_level() -> Value {
        json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})
    }

    fn replace(pattern: &str, content: &str) -> Value {
        json!({"type": "Replace", "pattern": {"String": pattern}, "content": content})
    }

    /// What Llama 2 and its like come with.
    fn llama() -> Decoder {
        sequence(&[
            replace("▁", " "),
            json!({"type": "ByteFallback"}),
            json!({"type": "Fuse"}),
            json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}),
        ])
    }

    fn decoded(decoder: &Decoder, tokens: &[&str]) -> String {
        decoder.decode(tokens.iter().copied().map(Piece::Token)).unwrap()
    }

    #[test]
    fn tokens_in_the_byte_alphabet_are_bytes() {
        let decoder = read(&byte_level()).unwrap();

        assert_eq!(
            decoded(&decoder, &["Ġhi", "ðŁ", "ĺ", "Ģ", "a b", "é"]),
            " hi😀a b\u{fffd}"
        );
    }

    #[test]
    fn added_tokens_keep_their_text() {
        let decoder = read(&byte_level()).unwrap();
        let later = sequence(&[replace("x", ""), byte_level()]);

        for decoder in [decoder, later] {
            let pieces = [Piece::Text("café"), Piece::Bytes(b" au")];
            assert_eq!(decoder.decode(pieces).unwrap(), "café au");
            assert_eq!(decoded(&decoder, &["café"]), "caf\u{fffd}");
        }
    }

    #[test]
    fn each_step_of_a_sequence_reads_the_tokens_of_the_step_before() {
        assert_eq!(
            decoded(&llama(), &["▁a", "▁▁b", "<0xE2>", "<0x96>", "<0x81>", "▁"]),
            "a  b▁ "
        );
        assert_eq!(decoded(&llama(), &["<0x20>", "▁", "<0xFF>"]), " \u{fffd}");

        let strip = json!({"type": "Strip", "content": " ", "start": 1, "stop": 0});
        let unfused = sequence(&[replace("▁", " "), strip.clone()]);
        let fused = sequence(&[replace("▁", " "), json!({"type": "Fuse"}), strip]);
        assert_eq!(decoded(&unfused, &["▁a", "▁b"]), "ab");
        assert_eq!(decoded(&fused, &["▁a", "▁b"]), "a b");
    }

    #[test]
    fn sequences_in_sequences_are_one_row() {
        let inner = json!({"type": "Sequence", "decoders": [byte_level()]});
        let once = sequence(std::slice::from_ref(&inner));
        let twice = sequence(&[inner.clone(), inner]);
        let none = sequence(&[]);

        assert!(once.is_byte_level() && !twice.is_byte_level() && !none.is_byte_level());
        assert_eq!(once.decode([Piece::Bytes("é".as_bytes())]).unwrap(), "é");
        assert_eq!(twice.decode([Piece::Bytes("é".as_bytes())]).unwrap(), "\u{fffd}");
        assert_eq!(
            none.decode([Piece::Token("Ġa"), Piece::Bytes(b" b")]).unwrap(),
            "ĠaĠb"
        );
    }

    #[test]
    fn without_a_decoder_spaces_join_the_tokens() {
        assert_eq!(decode(None, ["a", "Ġb", ""].map(Piece::Token)).unwrap(), "a Ġb ");
    }

    #[test]
    fn a_regex_replaces_inside_each_token() {
        let regex = json!({"type": "Replace", "pattern": {"Regex": "^▁|a+$"}, "content": "-"});

        assert_eq!(decoded(&read(&regex).unwrap(), &["▁b▁aa", "", "▁a"]), "-b▁---");
    }

    #[test]
    fn a_token_in_the_middle_of_a_text_has_its_bytes() {
        let metaspace =
            json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
        let bytes = |decoder: &Decoder, token| decoder.token_bytes(Piece::Token(token)).unwrap().into_owned();

        for decoder in [llama(), sequence(&[json!({"type": "ByteFallback"}), metaspace])] {
            assert_eq!(bytes(&decoder, "▁the▁"), b" the ");
            assert_eq!(bytes(&decoder, "<0xFF>"), [0xff]);
            assert_eq!(bytes(&decoder, "<0x▁>"), b"<0x >");
        }
        let suffix = json!({"type": "BPEDecoder", "suffix": "</w>"});
        assert_eq!(bytes(&read(&suffix).unwrap(), "the</w>"), b"the ");
        assert_eq!(bytes(&read(&byte_level()).unwrap(), "Ġé"), b" \xe9");
    }

    #[test]
    fn a_million_tokens_take_no_time() {
        let tokens = ["▁a", "<0x41>", "b", "<0xFF>"].repeat(250_000);
        let started = std::time::Instant::now();

        let text = decoded(&llama(), &tokens);

        assert_eq!(text.len(), "aAb\u{fffd}".len() * 250_000 + 249_999);
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }

    #[test]
    fn what_cannot_run_is_refused_with_its_place() {
        let refused = |value: &Value| read(value).unwrap_err().to_string();

        let ctc = json!({"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": true});
        let error = refused(&json!({"type": "Sequence", "decoders": [byte_level(), ctc]}));
        assert!(
            error
                .contains("decoder.decoders[1] has type 'CTC'; hf_bpe supports 'BPEDecoder', 'ByteFallback'"),
            "{error}"
        );
        for (value, why) in [
            (json!({"type": "ByteLevel"}), "decoder lacks 'add_prefix_space'"),
            (json!({"type": "BPEDecoder"}), "decoder lacks 'suffix'"),
            (
                json!({"type": "WordPiece", "prefix": "##"}),
                "decoder lacks 'cleanup'",
            ),
            (
                json!({"type": "Replace", "pattern": {"Regex": "("}, "content": ""}),
                "decoder.pattern",
            ),
            (
                json!({"type": "Strip", "content": "", "start": 0, "stop": 0}),
                "decoder.content should be a string of one character, found \"\"",
            ),
            (
                json!({"type": "Strip", "content": "a", "start": -1, "stop": 0}),
                "decoder.start should be a number that isn't negative, found -1",
            ),
        ] {
            assert!(refused(&value).contains(why), "{}", refused(&value));
        }
    }
}
