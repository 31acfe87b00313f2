//! `truncation` and `padding`: defaults that the Python side applies, read here for errors alone.

use serde_json::Value;

use super::Components;
use crate::Result;
use crate::config::Node;

/// Checks both; where stock refuses one, this does.
///
/// # Errors
/// [`crate::Error::TokenizerFile`] with the JSON path.
pub(crate) fn check(components: &Components) -> Result<()> {
    if !components.truncation.is_null() {
        check_truncation(&Node::new("truncation", &components.truncation))?;
    }
    if !components.padding.is_null() {
        check_padding(&Node::new("padding", &components.padding))?;
    }
    Ok(())
}

fn check_truncation(node: &Node) -> Result<()> {
    if node.object()?.contains_key("direction") {
        one_of(&node.field("direction")?, &["Left", "Right"])?;
    }
    node.field("max_length")?.count()?;
    one_of(
        &node.field("strategy")?,
        &["LongestFirst", "OnlyFirst", "OnlySecond"],
    )?;
    node.field("stride")?.count()?;
    Ok(())
}

fn check_padding(node: &Node) -> Result<()> {
    let strategy = node.field("strategy")?;
    match strategy.value() {
        Value::String(name) if name == "BatchLongest" => {}
        Value::Object(fixed) if fixed.len() == 1 && fixed.contains_key("Fixed") => {
            strategy.field("Fixed")?.count()?;
        }
        _ => {
            return Err(strategy.error(format_args!(
                "should be 'BatchLongest' or an object with 'Fixed' alone, found {}",
                strategy.shown()
            )));
        }
    }
    one_of(&node.field("direction")?, &["Left", "Right"])?;
    if let Some(multiple) = node.optional("pad_to_multiple_of")? {
        multiple.count()?;
    }
    node.field("pad_id")?.u32()?;
    node.field("pad_type_id")?.u32()?;
    node.field("pad_token")?.str()?;
    Ok(())
}

fn one_of(node: &Node, names: &[&str]) -> Result<()> {
    if node.value().as_str().is_some_and(|name| names.contains(&name)) {
        return Ok(());
    }
    let (last, most) = names.split_last().expect("there are names");
    Err(node.error(format_args!(
        "should be '{}' or '{last}', found {}",
        most.join("', '"),
        node.shown()
    )))
}
