//! Views and functions whose types are forgotten, so that what takes them is compiled once.
//!
//! leptos' own `AnyView` keeps, for every type of view that it forgets, the code to wait for it
//! while a page is taken over and to change it in place; on the page of reviews these were a third
//! of the module. No view here waits for anything, so a [`Part`] does neither: it is made, taken
//! over, and, when it is another one, made anew.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::tachys::html::InertElement;
use leptos::tachys::html::attribute::Attribute;
use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
use leptos::tachys::hydration::Cursor;
use leptos::tachys::renderer::types::{Element, Node};
use leptos::tachys::view::{Mountable, Position, PositionState};

use crate::browser::on_server;

/// A view whose type is forgotten.
pub struct Part(Box<dyn View + Send>);

/// A [`Part`] that is made anew when what it read has changed.
pub type Live = Box<dyn FnMut() -> Option<Part> + Send>;

/// A text that follows what it reads.
pub type Text = Box<dyn FnMut() -> String + Send>;

/// A text that is there only sometimes. The server writes an empty one as a space, and none as
/// nothing.
pub type MaybeText = Box<dyn FnMut() -> Option<String> + Send>;

/// A flag that follows what it reads.
pub type Flag = Box<dyn FnMut() -> bool + Send>;

/// Key of an entry in a list: an entry whose key stays isn't made again.
pub type Key = (u64, usize);

/// Forgets the type of a view.
pub trait IntoPart {
    /// The view without its type.
    fn part(self) -> Part;
}

impl<V> IntoPart for V
where
    V: RenderHtml + 'static,
    V::State: 'static,
{
    fn part(self) -> Part {
        Part(Box::new(self))
    }
}

/// A part that is there only sometimes, or differs from one time to the next.
pub fn live(make: impl FnMut() -> Option<Part> + Send + 'static) -> Live {
    Box::new(make)
}

/// A part that is there while a signal is true.
pub fn while_so(so: Signal<bool>, make: impl Fn() -> Part + Send + 'static) -> Live {
    live(move || so.get().then(&make))
}

/// A text that follows what it reads.
pub fn text(make: impl FnMut() -> String + Send + 'static) -> Text {
    Box::new(make)
}

/// A text that is there only sometimes.
pub fn maybe_text(make: impl FnMut() -> Option<String> + Send + 'static) -> MaybeText {
    Box::new(make)
}

/// A flag as attributes of accessibility have it: `true` or `false`.
pub fn truth(is_so: impl Fn() -> bool + Send + 'static) -> Text {
    text(move || (if is_so() { "true" } else { "false" }).to_owned())
}

/// A flag that follows what it reads.
pub fn flag(make: impl FnMut() -> bool + Send + 'static) -> Flag {
    Box::new(make)
}

/// One entry for each key, in their order.
pub fn list(
    keys: impl Fn() -> Vec<Key> + Send + Sync + 'static,
    one: impl Fn(u64) -> Part + Send + Sync + 'static,
) -> Part {
    keyed(Box::new(keys), Arc::new(one))
}

fn keyed(
    keys: Box<dyn Fn() -> Vec<Key> + Send + Sync>,
    one: Arc<dyn Fn(u64) -> Part + Send + Sync>,
) -> Part {
    view! { <For each=keys key=|key| *key children=move |(of, _)| one(of)/> }.part()
}

/// An element that only the server writes: taking a page over leaves it as it is, and no module
/// carries what makes it.
pub fn island(write: impl FnOnce() -> String) -> InertElement {
    InertElement::new(on_server(write))
}

/// Interface of a view without its type.
trait View {
    fn build(self: Box<Self>) -> Box<dyn Place>;

    #[cfg(not(feature = "ssr"))]
    fn take_over(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn Place>;

    #[cfg(feature = "ssr")]
    fn write(self: Box<Self>, to: &mut String, position: &mut Position, escape: bool);
}

impl<V> View for V
where
    V: RenderHtml + 'static,
    V::State: 'static,
{
    fn build(self: Box<Self>) -> Box<dyn Place> {
        Box::new(Render::build(*self))
    }

    #[cfg(not(feature = "ssr"))]
    fn take_over(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn Place> {
        Box::new(self.hydrate::<true>(cursor, position))
    }

    #[cfg(feature = "ssr")]
    fn write(self: Box<Self>, to: &mut String, position: &mut Position, escape: bool) {
        self.to_html_with_buf(to, position, escape, false, vec![]);
    }
}

/// Interface of a view on the page, without its type.
trait Place {
    fn leave(&mut self);
    fn enter(&mut self, parent: &Element, marker: Option<&Node>);
    fn put_before(&self, other: &mut dyn Mountable) -> bool;
}

impl<M: Mountable> Place for M {
    fn leave(&mut self) {
        self.unmount();
    }

    fn enter(&mut self, parent: &Element, marker: Option<&Node>) {
        self.mount(parent, marker);
    }

    fn put_before(&self, other: &mut dyn Mountable) -> bool {
        self.insert_before_this(other)
    }
}

/// A [`Part`] on the page.
pub struct Placed(Box<dyn Place>);

impl Mountable for Placed {
    fn unmount(&mut self) {
        self.0.leave();
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        self.0.enter(parent, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.0.put_before(child)
    }

    /// Only attributes from outside are put on them, which a part takes none of.
    fn elements(&self) -> Vec<Element> {
        vec![]
    }
}

impl Render for Part {
    type State = Placed;

    fn build(self) -> Placed {
        Placed(self.0.build())
    }

    fn rebuild(self, state: &mut Placed) {
        let mut new = Render::build(self);
        state.insert_before_this(&mut new);
        state.unmount();
        *state = new;
    }
}

impl AddAnyAttr for Part {
    type Output<A: Attribute> = Self;

    fn add_any_attr<A: Attribute>(self, _: A) -> Self {
        self
    }
}

impl RenderHtml for Part {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    #[cfg(feature = "ssr")]
    fn to_html_with_buf(
        self,
        buf: &mut String,
        position: &mut Position,
        escape: bool,
        _: bool,
        _: Vec<AnyAttribute>,
    ) {
        self.0.write(buf, position, escape);
    }

    /// Only the server writes pages.
    #[cfg(not(feature = "ssr"))]
    fn to_html_with_buf(
        self,
        _: &mut String,
        _: &mut Position,
        _: bool,
        _: bool,
        _: Vec<AnyAttribute>,
    ) {
    }

    #[cfg(not(feature = "ssr"))]
    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> Placed {
        Placed(self.0.take_over(cursor, position))
    }

    /// Only the browser takes pages over.
    #[cfg(feature = "ssr")]
    fn hydrate<const FROM_SERVER: bool>(self, _: &Cursor, _: &PositionState) -> Placed {
        Render::build(self)
    }

    fn into_owned(self) -> Self {
        self
    }
}
