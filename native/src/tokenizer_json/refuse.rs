//! Errors for values of a wrong type: `PATH should be WANTED, found FOUND`.

/// Makes a visitor refuse the kinds of values that are listed. Its `wanted` says the place and what should stand there.
macro_rules! refuse {
    ($($kind:ident)*) => { $($crate::tokenizer_json::refuse::refuse!(@$kind);)* };
    (@null) => {
        fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<Self::Value, E> {
            Err(E::custom(format_args!("{}, found null", self.wanted())))
        }
    };
    (@bool) => {
        fn visit_bool<E: serde::de::Error>(self, found: bool) -> std::result::Result<Self::Value, E> {
            Err(E::custom(format_args!("{}, found {found}", self.wanted())))
        }
    };
    (@number) => {
        fn visit_u64<E: serde::de::Error>(self, found: u64) -> std::result::Result<Self::Value, E> {
            Err(E::custom(format_args!("{}, found {found}", self.wanted())))
        }

        fn visit_i64<E: serde::de::Error>(self, found: i64) -> std::result::Result<Self::Value, E> {
            Err(E::custom(format_args!("{}, found {found}", self.wanted())))
        }

        fn visit_f64<E: serde::de::Error>(self, found: f64) -> std::result::Result<Self::Value, E> {
            Err(E::custom(format_args!("{}, found {found:?}", self.wanted())))
        }
    };
    (@text) => {
        fn visit_str<E: serde::de::Error>(self, found: &str) -> std::result::Result<Self::Value, E> {
            let found = $crate::quoted::Escaped(found);
            Err(E::custom(format_args!("{}, found {found}", self.wanted())))
        }
    };
    (@array) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, _: A) -> std::result::Result<Self::Value, A::Error> {
            Err(serde::de::Error::custom(format_args!("{}, found an array", self.wanted())))
        }
    };
    (@object) => {
        fn visit_map<A: serde::de::MapAccess<'de>>(self, _: A) -> std::result::Result<Self::Value, A::Error> {
            Err(serde::de::Error::custom(format_args!("{}, found an object", self.wanted())))
        }
    };
}

pub(super) use refuse;
