//! `Metaspace`: the stand-in for spaces, `▁` as a rule, back to spaces.

use super::Tokens;
use crate::Result;
use crate::config::Node;

/// The settings that matter for decoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Metaspace {
    replacement: char,
    /// Whether the first token lost nothing when the text got no prefix: then its stand-ins are spaces too.
    keeps_first: bool,
}

impl Metaspace {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        let scheme = match node.object()?.get("prepend_scheme") {
            None => "always",
            Some(_) => node.field("prepend_scheme")?.str()?,
        };
        if !matches!(scheme, "always" | "first" | "never") {
            let message = "should be 'always', 'first' or 'never'";
            return Err(node.field("prepend_scheme")?.error(message));
        }
        // Older files say the same by `add_prefix_space`.
        if !node.bool_or("add_prefix_space", true)? && scheme != "never" {
            let message = "is false, which contradicts prepend_scheme; set prepend_scheme to 'never'";
            return Err(node.field("add_prefix_space")?.error(message));
        }
        node.bool_or("split", true)?;
        Ok(Self {
            replacement: node.field("replacement")?.char()?,
            keeps_first: scheme == "never",
        })
    }

    pub(super) fn run(self, tokens: &Tokens) -> Tokens {
        tokens.map(|index, token, text| {
            let space = if index == 0 && !self.keeps_first { "" } else { " " };
            for (nth, part) in token.split(self.replacement).enumerate() {
                if nth > 0 {
                    text.push_str(space);
                }
                text.push_str(part);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: &Value) -> Result<Metaspace> {
        Metaspace::from_node(&Node::new("decoder", value))
    }

    fn decoded(value: &Value, tokens: &[&str]) -> String {
        read(value)
            .unwrap()
            .run(&tokens.iter().copied().collect())
            .into_text()
    }

    #[test]
    fn the_first_token_loses_its_stand_ins_where_a_prefix_was_added() {
        let tokens = ["▁▁a▁b", "▁c", "_d"];

        for scheme in ["always", "first"] {
            let value = json!({"replacement": "▁", "prepend_scheme": scheme, "split": false});
            assert_eq!(decoded(&value, &tokens), "ab c_d");
        }
        let value = json!({"replacement": "▁", "prepend_scheme": "never"});
        assert_eq!(decoded(&value, &tokens), "  a b c_d");
        assert_eq!(decoded(&json!({"replacement": "_"}), &tokens), "▁▁a▁b▁c d");
    }

    #[test]
    fn older_files_say_whether_there_is_a_prefix() {
        let value =
            json!({"replacement": "▁", "add_prefix_space": false, "prepend_scheme": "never", "str_rep": "▁"});
        assert_eq!(decoded(&value, &["▁a"]), " a");

        let error = read(&json!({"replacement": "▁", "add_prefix_space": false})).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("decoder.add_prefix_space is false, which contradicts"),
            "{error}"
        );
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let error = read(&json!({"replacement": "▁▁"})).unwrap_err().to_string();
        assert!(
            error.contains("decoder.replacement should be a string of one character, found \"▁▁\""),
            "{error}"
        );

        let error = read(&json!({"replacement": "▁", "prepend_scheme": "last"}))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("decoder.prepend_scheme should be 'always', 'first' or 'never'"),
            "{error}"
        );
    }
}
