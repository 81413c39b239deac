//! Enums with a row for each variant, so that their variants are listed once.

/// An enum, all of its variants in their order, and a function for each of two columns.
#[macro_export]
macro_rules! choices {
    (
        $(#[$outer:meta])*
        $vis:vis enum $Type:ident {
            $(#[$first_doc:meta])* $first:ident: $First:ty,
            $(#[$second_doc:meta])* $second:ident: $Second:ty;
            $($(#[$doc:meta])* $Name:ident = $one:expr, $other:expr;)+
        }
    ) => {
        $(#[$outer])*
        $vis enum $Type { $($(#[$doc])* $Name,)+ }

        impl $Type {
            /// All of them, in their order.
            $vis const ALL: [Self; [$(Self::$Name),+].len()] = [$(Self::$Name),+];

            $(#[$first_doc])*
            #[must_use]
            $vis const fn $first(self) -> $First {
                match self { $(Self::$Name => $one,)+ }
            }

            $(#[$second_doc])*
            #[must_use]
            $vis const fn $second(self) -> $Second {
                match self { $(Self::$Name => $other,)+ }
            }
        }
    };
}

pub use choices;
