macro_rules! declare {
    ($($variant:ident: $label:literal, $description:literal, $module:ident $reader:ident;)*) => {
        /// The layout of a trace.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Dialect {
            $(#[doc = $description] $variant,)*
        }

        impl Dialect {
            /// Every dialect, in the order of recognition.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in reports and in JSON: stable.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)*
                }
            }

            /// The description for people.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $description,)*
                }
            }
        }
    };
}
with_dialects!(declare);

impl Default for Dialect {
    fn default() -> Self {
        Self::Native
    }
}
