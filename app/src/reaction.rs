//! Memos, effects and handlers of events whose functions are forgotten: what keeps them is compiled
//! once for each type of value, and not for each function.

use leptos::prelude::*;

type Make<T> = Box<dyn Fn(Option<&T>) -> T + Send + Sync>;

/// A value that follows what it reads, and tells only when it is another one.
pub fn memo<T>(make: impl Fn() -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    let make: Make<T> = Box::new(move |_| make());
    Memo::new(make)
}

/// Work that is done again whenever what it read has changed, in the browser alone.
pub fn effect(work: impl FnMut() + 'static) {
    let work: Box<dyn FnMut()> = Box::new(work);
    Effect::new(work);
}

/// A function that acts on an event.
pub type Handler<E> = Box<dyn FnMut(E)>;

/// Forgets the type of a function that acts on an event.
pub fn handler<E>(act: impl FnMut(E) + 'static) -> Handler<E> {
    Box::new(act)
}
