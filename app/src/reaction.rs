//! Memos, effects and handlers of events whose functions are forgotten: what keeps them is compiled
//! once for each type of value, and not for each function.

use leptos::prelude::*;

/// A value that follows what it reads, and tells only when it is another one.
pub fn memo<T>(make: impl Fn() -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    memo_of(Box::new(make))
}

fn memo_of<T>(make: Box<dyn Fn() -> T + Send + Sync>) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    Memo::new(move |_| make())
}

/// Work that is done again whenever what it read has changed, in the browser alone.
pub fn effect(work: impl FnMut() + 'static) {
    effect_of(Box::new(work));
}

fn effect_of(work: Box<dyn FnMut()>) {
    Effect::new(work);
}

/// A function that acts on an event.
pub type Handler<E> = Box<dyn FnMut(E)>;

/// Forgets the type of a function that acts on an event.
pub fn handler<E>(act: impl FnMut(E) + 'static) -> Handler<E> {
    Box::new(act)
}
