//! The macro that turns the table of knobs into the types and functions that hold all of them.

macro_rules! registry {
    ($($(#[$doc:meta])* $Section:ident $section:ident {
        $($name:ident: $ty:ty = $neutral:expr, $knob:expr;)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq)]
            #[expect(missing_docs, reason = "the registry's row says what a knob means")]
            pub struct $Section { $(pub $name: $ty,)* }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $($name: $neutral,)* }
                }
            }
        )*

        /// Every knob, by its public name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, missing_docs, reason = "the variants are the public names")]
        pub enum KnobId { $($($name,)*)* }

        impl KnobId {
            /// Every knob, in registry order.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)*)*];

            /// The registry's row.
            #[must_use]
            pub fn knob(self) -> &'static Knob {
                &KNOBS[self as usize]
            }

            /// Meaning of the knob and its source.
            #[must_use]
            pub fn words(self) -> &'static Words {
                &WORDS[self as usize]
            }
        }

        /// The registry's rows, indexed by [`KnobId`].
        pub static KNOBS: &[Knob] =
            &[$($($knob.named(Section::$Section, stringify!($name)).knob,)*)*];

        static WORDS: &[Words] = &[$($($knob.words,)*)*];

        /// A training configuration as its author wrote it.
        #[derive(Debug)]
        pub struct Design {
            /// The preset that it starts from: a link or file holds only what differs from it.
            pub preset: &'static Preset,
            $($(#[$doc])* pub $section: $Section,)*
        }

        /// One function for all who copy one.
        impl Clone for Design {
            #[inline(never)]
            fn clone(&self) -> Self {
                Self { preset: self.preset, $($section: self.$section.clone(),)* }
            }
        }

        impl PartialEq for Design {
            #[inline(never)]
            fn eq(&self, other: &Self) -> bool {
                self.preset.id == other.preset.id $(&& self.$section == other.$section)*
            }
        }

        impl Design {
            /// A design with every knob at its neutral value.
            #[must_use]
            pub fn neutral(preset: &'static Preset) -> Self {
                Self { preset, $($section: $Section::default(),)* }
            }

            /// The value of a knob.
            #[must_use]
            pub fn get(&self, id: KnobId) -> Value {
                self.field(id).value()
            }

            /// Sets a knob. What follows from it moves along: the framework with the accelerator.
            ///
            /// # Errors
            /// A value of the wrong type or out of the knob's bounds; the design is unchanged.
            pub fn set(&mut self, id: KnobId, value: &Value) -> Result<(), KnobError> {
                setting::check(id.knob(), value)?;
                let from = self.cluster.accelerator;
                self.put(id, value);
                if id == KnobId::accelerator {
                    self.follow(from);
                }
                Ok(())
            }

            /// Sets a knob to a value that [`Self::set`] takes, without a check: one of the wrong
            /// type changes nothing, one out of bounds makes a design that no rule expects.
            pub fn put(&mut self, id: KnobId, value: &Value) {
                self.field_mut(id).put(value);
            }

            /// Tells of the knobs that differ between two designs. Most sections are the same in
            /// designs alike, and are compared at once.
            #[inline(never)]
            pub(super) fn compare(&self, other: &Self, mut tell: impl FnMut(KnobId)) {
                $(if self.$section != other.$section {
                    let knobs: &[KnobId] = &[$(KnobId::$name),*];
                    knobs.iter().filter(|id| self.differs(other, **id)).for_each(|id| tell(*id));
                })*
            }

            /// Whether a knob differs between two designs.
            pub(crate) fn differs(&self, other: &Self, id: KnobId) -> bool {
                !self.field(id).same(other.field(id))
            }

            /// Takes over a knob of another design.
            pub(super) fn take_one(&mut self, other: &Self, id: KnobId) {
                self.field_mut(id).take(other.field(id));
            }

            fn field(&self, id: KnobId) -> &dyn Field {
                match id {
                    $($(KnobId::$name => &self.$section.$name,)*)*
                }
            }

            fn field_mut(&mut self, id: KnobId) -> &mut dyn Field {
                match id {
                    $($(KnobId::$name => &mut self.$section.$name,)*)*
                }
            }
        }
    };
}

pub(super) use registry;
