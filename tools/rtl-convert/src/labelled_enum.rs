//! Enums whose variants have a fixed text in files.

/// Declares an enum with the text of each variant: `ALL` lists the variants, `label` returns the text.
macro_rules! labelled_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $label:literal,)* }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            $vis const ALL: [Self; [$($label),*].len()] = [$(Self::$variant),*];

            #[inline]
            $vis fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)*
                }
            }
        }
    };
}

pub(crate) use labelled_enum;
