//! The one error type of the crate; `python` maps each variant to a Python exception.

/// What can go wrong, by what the caller can do about it.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// A component that stock can run and this crate can't: `UnsupportedComponentError`.
    #[error("{0}")]
    UnsupportedComponent(String),
    /// A damaged or contradictory tokenizer file: `TokenizerFileError`.
    #[error("{0}")]
    TokenizerFile(String),
    /// A split pattern that can't be compiled or ran into its step limit: `SplitPatternError`.
    #[error("{0}")]
    SplitPattern(String),
    /// A value out of its range: `ValueError`.
    #[error("{0}")]
    Value(String),
    /// A token or id that the vocabulary doesn't hold: `KeyError`.
    #[error("{0}")]
    UnknownToken(String),
    /// A temporary file that can't be written or read, as on a full disk: `OSError`.
    #[error("{0}")]
    Storage(String),
    /// The caller asked to stop (Ctrl-C while training): `KeyboardInterrupt`.
    #[error("interrupted")]
    Interrupted,
}

/// `Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
