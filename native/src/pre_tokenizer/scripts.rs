//! The script of every code point, as the stock library's table has it.
//!
//! Guarantee: for every code point the answer parts scripts as stock's does (tokenizers 0.23.3), whose table is `Scripts.txt` of
//! Unicode 9.0. It is made from the crate `regex-syntax`, which holds a newer one, restricted to what version 9.0 assigned; since
//! then only [`MOVED`] changed. Japanese is one script: Han, Hiragana, Katakana and the long vowel mark.

use std::sync::LazyLock;

use super::classes::ranges;

/// No script: a space, or unassigned.
pub(super) const ANY: u8 = 0;
const JAPANESE: u8 = 1;
/// The scripts of Unicode 9.0 but for the Japanese ones, which are numbered from 2 on.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "Adlam", "Ahom", "AnatolianHieroglyphs", "Arabic", "Armenian", "Avestan", "Balinese", "Bamum",
    "BassaVah", "Batak", "Bengali", "Bhaiksuki", "Bopomofo", "Brahmi", "Braille", "Buginese", "Buhid",
    "CanadianAboriginal", "Carian", "CaucasianAlbanian", "Chakma", "Cham", "Cherokee", "Common", "Coptic",
    "Cuneiform", "Cypriot", "Cyrillic", "Deseret", "Devanagari", "Duployan", "EgyptianHieroglyphs",
    "Elbasan", "Ethiopic", "Georgian", "Glagolitic", "Gothic", "Grantha", "Greek", "Gujarati", "Gurmukhi",
    "Hangul", "Hanunoo", "Hatran", "Hebrew", "ImperialAramaic", "Inherited", "InscriptionalPahlavi",
    "InscriptionalParthian", "Javanese", "Kaithi", "Kannada", "KayahLi", "Kharoshthi", "Khmer", "Khojki",
    "Khudawadi", "Lao", "Latin", "Lepcha", "Limbu", "LinearA", "LinearB", "Lisu", "Lycian", "Lydian",
    "Mahajani", "Malayalam", "Mandaic", "Manichaean", "Marchen", "MeeteiMayek", "MendeKikakui",
    "MeroiticCursive", "MeroiticHieroglyphs", "Miao", "Modi", "Mongolian", "Mro", "Multani", "Myanmar",
    "Nabataean", "NewTaiLue", "Newa", "Nko", "Ogham", "OlChiki", "OldHungarian", "OldItalic",
    "OldNorthArabian", "OldPermic", "OldPersian", "OldSouthArabian", "OldTurkic", "Oriya", "Osage",
    "Osmanya", "PahawhHmong", "Palmyrene", "PauCinHau", "PhagsPa", "Phoenician", "PsalterPahlavi",
    "Rejang", "Runic", "Samaritan", "Saurashtra", "Sharada", "Shavian", "Siddham", "SignWriting",
    "Sinhala", "SoraSompeng", "Sundanese", "SylotiNagri", "Syriac", "Tagalog", "Tagbanwa", "TaiLe",
    "TaiTham", "TaiViet", "Takri", "Tamil", "Tangut", "Telugu", "Thaana", "Thai", "Tibetan", "Tifinagh",
    "Tirhuta", "Ugaritic", "Vai", "WarangCiti", "Yi",
];
/// The code points whose script changed after version 9.0, with the script they had.
const MOVED: &[(u32, u32, &str)] = &[
    (0x589, 0x589, "Common"),
    (0x61C, 0x61C, "Common"),
    (0x953, 0x954, "Devanagari"),
];
const LONG_VOWEL_MARK: u32 = 0x30FC;

/// Ranges of code points with their scripts, in order and without overlap; what is in none has no script.
pub(super) struct Scripts(Vec<Run>);

#[derive(Debug, Clone, Copy)]
struct Run {
    start: u32,
    end: u32,
    script: u8,
}

impl Scripts {
    /// The one table of the process, made at first use.
    pub(super) fn get() -> &'static Scripts {
        static SCRIPTS: LazyLock<Scripts> = LazyLock::new(Scripts::build);
        &SCRIPTS
    }

    /// Someone to ask, who remembers the last answer.
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader {
            runs: &self.0,
            last: Run {
                start: 0,
                end: 0,
                script: ANY,
            },
        }
    }

    fn build() -> Scripts {
        let mut flat = vec![ANY; 0x11_0000];
        let mut fill = |start: u32, end: u32, script| flat[start as usize..=end as usize].fill(script);
        for (number, name) in NAMES.iter().enumerate() {
            for (start, end) in ranges(&format!(r"[\p{{Script={name}}}&&\p{{Age=9.0}}]")) {
                fill(start, end, number as u8 + 2);
            }
        }
        for (start, end) in ranges(r"[[\p{Han}\p{Hiragana}\p{Katakana}]&&\p{Age=9.0}]") {
            fill(start, end, JAPANESE);
        }
        for &(start, end, name) in MOVED {
            let number = NAMES.iter().position(|known| *known == name).unwrap_or_default();
            fill(start, end, number as u8 + 2);
        }
        fill(LONG_VOWEL_MARK, LONG_VOWEL_MARK, JAPANESE);
        fill(' '.into(), ' '.into(), ANY);
        Scripts(runs(&flat))
    }
}

fn runs(flat: &[u8]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut start = 0;
    for chunk in flat.chunk_by(|one, next| one == next) {
        let end = start + chunk.len() as u32;
        if chunk[0] != ANY {
            runs.push(Run {
                start,
                end,
                script: chunk[0],
            });
        }
        start = end;
    }
    runs
}

/// Answers for one character after the other.
pub(super) struct Reader<'a> {
    runs: &'a [Run],
    last: Run,
}

/// The script of `char`, a number without further meaning; none for what scripts share: spaces, digits, punctuation and
/// marks that go with any letter.
pub fn own_script(char: char) -> Option<u8> {
    static SHARED: LazyLock<[u8; 3]> = LazyLock::new(|| {
        let number = |name| NAMES.iter().position(|known| *known == name).unwrap_or_default() as u8 + 2;
        [ANY, number("Common"), number("Inherited")]
    });
    let script = Scripts::get().reader().of(char);
    (!SHARED.contains(&script)).then_some(script)
}

impl Reader<'_> {
    /// The script of `char`: a number without further meaning, or [`ANY`].
    #[inline]
    pub(super) fn of(&mut self, char: char) -> u8 {
        let code_point = u32::from(char);
        if !(self.last.start..self.last.end).contains(&code_point) {
            let after = self.runs.partition_point(|run| run.end <= code_point);
            match self.runs.get(after) {
                Some(run) if run.start <= code_point => self.last = *run,
                _ => return ANY,
            }
        }
        self.last.script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unicode 9.0 assigned 128,172 characters and 65 controls; a space is none here.
    #[test]
    fn the_table_is_that_of_unicode_9() {
        let mut reader = Scripts::get().reader();

        let known = ('\0'..=char::MAX).filter(|&char| reader.of(char) != ANY).count();

        assert_eq!(known, 128_237 - 1);
    }

    #[test]
    fn moved_characters_have_the_script_they_had() {
        let mut reader = Scripts::get().reader();
        let mut same = |one, other| reader.of(one) == reader.of(other);

        assert!(same('\u{589}', '!') && same('\u{61c}', '!'));
        assert!(same('\u{953}', 'अ') && same('\u{954}', 'अ'));
        assert!(same('ー', '京') && same('い', 'グ'));
        assert!(!same('a', 'а') && !same('1', 'a'));
    }
}
