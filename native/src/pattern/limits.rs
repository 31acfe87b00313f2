//! How much work the regex engine may do, told to Oniguruma.
//!
//! The crate `onig` can limit the steps of one match, but not those of a search, which tries a match at each position of
//! the text; the setter exists in the C library only, hence the one `unsafe` call of this file. Without it, `(a|b)*c` on
//! 100 kB of `a` takes minutes although no single match comes near its limit.

use onig::MatchParam;

/// The steps of one match attempt, as in stock, which panics there.
pub(super) const STEPS_IN_MATCH: u32 = 10_000_000;

/// Parameters for one search of at most `steps_in_search` steps and at most `stack` entries on the match stack.
///
/// A step is one return to a choice that was left open.
#[allow(unsafe_code)]
pub(super) fn match_param(steps_in_search: u64, stack: u32) -> MatchParam {
    let mut param = MatchParam::default();
    param.set_retry_limit_in_match(STEPS_IN_MATCH);
    param.set_match_stack_limit(stack);
    let limit = std::os::raw::c_ulong::try_from(steps_in_search).unwrap_or(std::os::raw::c_ulong::MAX);
    // SAFETY: `param` owns a valid, initialised `OnigMatchParam` for the whole call, which only stores the number in it.
    unsafe { onig_sys::onig_set_retry_limit_in_search_of_match_param(param.as_raw(), limit) };
    param
}
