//! What pointers, keys and controls do on the page.

use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use model::ground::decimal;
use present::html::escaped;
use present::page::results::data::Dim;
use present::page::results::parallel::{Grip, Lanes};
use present::page::results::select::{first_of_front, order};
use present::page::results::view::End;
use present::page::results::{Data, Grid, heat, parts};
use web_sys::{Element, Event, HtmlElement, KeyboardEvent, MouseEvent, PointerEvent};

use super::browser::{Shared, ask, due};
use super::live::{Drag, Live};
use crate::browser::canvas::size;
use crate::browser::dom::Target;
use crate::browser::download::{download, here};
use present::format;

/// The address follows when the view has been still for this long.
const ADDRESS_DELAY: Duration = Duration::from_millis(250);

/// Largest distance of a pointer from a design, in pixels.
const MAX_POINTER_DISTANCE: f64 = 18.0;

/// Takes an event in.
pub(super) fn event(live: &Shared, event: &Event) {
    let kind = event.type_();
    watched(live, || {
        match kind.as_str() {
            "click" | "change" | "input" => control(live, event, &kind),
            "keydown" => {
                if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                    key(live, event);
                }
            }
            "dblclick" => open_current(live, event),
            // A picture that was folded away has its size only now.
            "toggle" => live.borrow_mut().resized = true,
            _ => {}
        }
        if let Some(event) = event.dyn_ref::<PointerEvent>()
            && kind.starts_with("pointer")
        {
            pointer(&mut live.borrow_mut(), event, &kind);
        }
    });
}

/// Acts on the controls that were used before their designs came; true if there were some.
pub(super) fn catch_up(live: &Shared) -> bool {
    let early = {
        let mut page = live.borrow_mut();
        let all = std::mem::take(&mut page.early);
        let (early, waiting) = all.into_iter().partition(|target| page.is_ready(target));
        page.early = waiting;
        let early: Vec<Target> = early;
        early
    };
    if early.is_empty() {
        return false;
    }
    watched(live, || early.into_iter().for_each(|target| change(live, target)));
    true
}

/// Runs `act`, and sees to what follows if it has changed the view.
fn watched(live: &Shared, act: impl FnOnce()) {
    let before = live.borrow().view.clone();
    act();
    let differs = live.borrow().view != before;
    if differs {
        {
            let mut page = live.borrow_mut();
            page.changed |= !page.view.pictures_as(&before);
            page.is_behind = true;
        }
        let live = Rc::clone(live);
        set_timeout(move || live.borrow().write_address(), ADDRESS_DELAY);
    }
}

/// The picture that an event is on, with the place in it.
fn picture(event: &MouseEvent) -> Option<(String, (f64, f64))> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let picture = target.closest(".sweep-canvas").ok()??;
    let bounds = picture.get_bounding_client_rect();
    let x = f64::from(event.client_x()) - bounds.left();
    let y = f64::from(event.client_y()) - bounds.top();
    Some((picture.id(), (x, y)))
}

/// A pointer over a picture or a row of the table.
fn pointer(live: &mut Live, event: &PointerEvent, kind: &str) {
    let Some(data) = live.data.take() else { return };
    let found = picture(event);
    if let Some(drag) = live.drag {
        // A drag goes on wherever the pointer is.
        if let Some((x, y)) = place_in("parallel", event) {
            live.drag = Some(Drag { to: (x, y), ..drag });
            if let Some(lanes) = live.lanes.clone() {
                drag_to(live, &data, &lanes, kind);
            }
        }
        if matches!(kind, "pointerup" | "pointercancel") {
            live.drag = None;
        }
        event.prevent_default();
        live.data = Some(data);
        return;
    }
    live.cell = None;
    let row = match &found {
        Some((id, at)) if id == "parallel" => {
            let lanes = live.lanes.clone();
            let lanes = lanes.as_ref();
            if kind == "pointerdown"
                && let Some(grip) = lanes.and_then(|lanes| lanes.grip(&data, &live.view, *at))
            {
                begin(live, &data, lanes, grip, *at, event);
                None
            } else {
                design_at(live, &data, id, *at)
            }
        }
        Some((id, at)) if id == "heat" => {
            live.cell = cell_at(live, &data, *at);
            None
        }
        Some((id, at)) => design_at(live, &data, id, *at),
        None => row_of(event),
    };
    live.hover = if kind == "pointerout" { None } else { row };
    live.data = Some(data);
}

/// The design at a place of a picture.
fn design_at(live: &Live, data: &Data, id: &str, at: (f64, f64)) -> Option<usize> {
    match id {
        "scatter" => live.places.nearest(data, &live.selection, at, MAX_POINTER_DISTANCE),
        "parallel" => live.lanes.as_ref()?.nearest(&live.columns, &live.selection, at),
        _ => None,
    }
}

/// The cell of the heatmap at a place.
fn cell_at(live: &Live, data: &Data, (x, y): (f64, f64)) -> Option<[usize; 2]> {
    let grid = Grid::of(data, live.view.heat_knobs(data)?);
    let size = size(&super::live::node("heat-base")?);
    heat::Place::new(&grid, size).hit(x, y)
}

/// Place of a pointer in a picture.
fn place_in(id: &str, event: &PointerEvent) -> Option<(f64, f64)> {
    let bounds = document().get_element_by_id(id)?.get_bounding_client_rect();
    let x = f64::from(event.client_x()) - bounds.left();
    Some((x, f64::from(event.client_y()) - bounds.top()))
}

/// The design of the table's row that an event is on.
fn row_of(event: &Event) -> Option<usize> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let row = target.closest("tr[data-row]").ok()??;
    row.get_attribute("data-row")?.parse().ok()
}

/// Takes hold of something of the parallel coordinates.
fn begin(
    live: &mut Live,
    data: &Data,
    lanes: Option<&Lanes>,
    grip: Grip,
    at: (f64, f64),
    event: &PointerEvent,
) {
    let axis = axis_of(grip);
    let dim = lanes.and_then(|lanes| lanes.axes.get(axis)).map(|(dim, _)| *dim);
    let range = dim.and_then(|dim| live.view.brushed(data, dim));
    live.drag = Some(Drag { grip, from: at, to: at, range });
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    if let Some(target) = target {
        // A pointer that is gone can't be held.
        let _ = target.set_pointer_capture(event.pointer_id());
    }
}

const fn axis_of(grip: Grip) -> usize {
    match grip {
        Grip::Name(axis) | Grip::End(axis, _) | Grip::Inside(axis) | Grip::Axis(axis) => axis,
    }
}

/// Follows a drag on the parallel coordinates.
fn drag_to(live: &mut Live, data: &Data, lanes: &Lanes, kind: &str) {
    let Some(Drag { grip, from, to, range }) = live.drag else { return };
    let ends = kind == "pointerup";
    let moved = (to.0 - from.0).abs().max((to.1 - from.1).abs());
    let axis = axis_of(grip);
    let Some((dim, scale)) = lanes.axes.get(axis).copied() else { return };
    let id = data.dim_id(dim);
    let number = |y: f64| lanes.number(axis, y);
    let next = match (grip, range) {
        (Grip::Name(_), _) => {
            if ends && moved > 8.0 {
                let target = lanes.axis_at(to.0);
                move_axis(live, data, axis, target);
            }
            return;
        }
        (Grip::Axis(_), _) | (Grip::End(..) | Grip::Inside(_), None) => {
            if moved < 4.0 {
                // A click beside a range clears it.
                if ends {
                    live.view.set_brush(&id, None);
                }
                return;
            }
            let (one, other) = (number(from.1), number(to.1));
            (one.min(other), one.max(other))
        }
        (Grip::End(_, upper), Some((low, high))) => {
            let now = number(to.1);
            if upper { (low, now.max(low)) } else { (now.min(high), high) }
        }
        (Grip::Inside(_), Some((low, high))) => {
            let by = scale.place(number(to.1)) - scale.place(number(from.1));
            let shifted =
                |end: f64| scale.number(scale.place(end.clamp(scale.from, scale.to)) + by);
            (shifted(low), shifted(high))
        }
    };
    let next = if scale.steps { whole(next, scale.to - 0.5) } else { next };
    live.view.set_brush(&id, Some((data.end(dim, next.0), data.end(dim, next.1))));
}

/// A range of a knob's values up to the last one: at least one of them.
fn whole((from, to): (f64, f64), last: f64) -> (f64, f64) {
    let [from, to] = [from, to].map(|end| end.round().clamp(0.0, last.max(0.0)));
    (from.min(to), to.max(from))
}

/// Puts an axis in another one's place.
fn move_axis(live: &mut Live, data: &Data, from: usize, to: usize) {
    let mut dims = live.view.axis_dims(data);
    if from < dims.len() && to < dims.len() {
        let dim = dims.remove(from);
        dims.insert(to, dim);
        live.view.axes = dims.into_iter().map(|dim| data.dim_id(dim)).collect();
    }
}

/// A control was pressed or changed.
fn control(live: &Shared, event: &Event, kind: &str) {
    if kind == "click"
        && let Some(event) = event.dyn_ref::<MouseEvent>()
        && let Some((id, at)) = picture(event)
    {
        return click(&mut live.borrow_mut(), &id, at);
    }
    let Some(target) = Target::of(event) else { return };
    let wanted = match target.act.as_str() {
        "words" => "input",
        _ if target.is_button => "click",
        _ => "change",
    };
    if kind != wanted {
        return;
    }
    match target.act.as_str() {
        "pause" | "resume" | "remove" => ask(live, &target.act),
        "csv" => {
            let page = live.borrow();
            if let Some(data) = &page.data {
                let text = parts::csv(data, &page.view, &page.selection);
                // The file's name doesn't have the id that can end the sweep.
                download("moescape-selection.csv", "text/csv", &here().in_csv(&text));
            }
        }
        "svg" => {
            let mut page = live.borrow_mut();
            let data = page.data.take();
            let file = data.as_ref().and_then(|data| page.file(data, &target.with));
            page.data = data;
            if let Some(file) = file {
                download(&format!("moescape-{}.svg", target.with), "image/svg+xml", &file);
            }
        }
        _ => change(live, target),
    }
}

/// Changes how the page is looked at, as soon as there are designs to look at.
fn change(live: &Shared, target: Target) {
    let mut page = live.borrow_mut();
    if !page.is_ready(&target) {
        if page.data.is_some() {
            tell_pinned(&mut page, "Pinned when the sweep is over.");
        }
        return page.early.push(target);
    }
    if let Some(data) = page.data.take() {
        act_on(&mut page, &data, &target);
        page.data = Some(data);
    }
}

/// Effect of a control on the view of the page.
fn act_on(page: &mut Live, data: &Data, target: &Target) {
    let (act, with) = (target.act.as_str(), target.with.as_str());
    let view = &mut page.view;
    match act {
        "cancel" => {
            page.removing = true;
            page.say("Stop it and delete its results?");
        }
        "stay" => page.removing = false,
        "keep" => view.cut(true),
        "drop" => view.cut(false),
        "clear" => view.brushes.clear(),
        "unbrush" => view.set_brush(with, None),
        "back" => drop(view.cuts.pop()),
        "restore" => view.cuts.clear(),
        "pin" => {
            let room = with.parse().is_ok_and(|index| view.pin(index));
            if !room {
                page.say("Four designs are pinned already: unpin one first.");
            }
        }
        "pin-first" => pin_first(page, data),
        "page" => view.page = with.parse().unwrap_or(0),
        "sort" => sort(page, data, with),
        "words" => {
            view.words.clone_from(&target.value);
            view.page = 0;
        }
        "set-x" => view.scatter[0].clone_from(&target.value),
        "set-y" => view.scatter[1].clone_from(&target.value),
        "set-heat-x" => view.heat = swapped(&view.heat, 0, &target.value),
        "set-heat-y" => view.heat = swapped(&view.heat, 1, &target.value),
        "log" => view.set_log(with, target.checked),
        "clip" => view.clip = target.checked,
        "front-only" => view.front_only = target.checked,
        "show" => show_axis(page, data, with, target.checked),
        "left" | "right" => {
            let place = data
                .find(with)
                .and_then(|dim| page.view.axis_dims(data).iter().position(|known| *known == dim));
            if let Some(place) = place {
                let to = if act == "left" { place.saturating_sub(1) } else { place + 1 };
                move_axis(page, data, place, to);
            }
        }
        "from" | "to" => set_end(page, data, act, with, &target.value),
        _ => {}
    }
}

/// Pins the first three designs of the table: the best ones, as it is ordered at first.
fn pin_first(page: &mut Live, data: &Data) {
    let designs = first_of_front(data, &page.view, &page.selection);
    let said = if page.view.pin_all(designs.iter().copied()) {
        parts::pinned(data, &page.view, &designs)
    } else {
        "Four designs are pinned already: unpin one first.".to_owned()
    };
    tell_pinned(page, &said);
}

/// Says what came of pinning several designs at once.
fn tell_pinned(page: &mut Live, said: &str) {
    crate::browser::dom::write_part("pinned-said", &escaped(said));
    page.say(said);
}

/// Pair of knobs with `value` on one side; the same knob on the other side changes places with it.
fn swapped(now: &[String; 2], side: usize, value: &str) -> [String; 2] {
    let mut next = now.clone();
    if next[1 - side] == value {
        next[1 - side].clone_from(&now[side]);
    }
    value.clone_into(&mut next[side]);
    next
}

fn sort(page: &mut Live, data: &Data, id: &str) {
    let (now, descending) = order(data, &page.view);
    let Some(dim) = data.find(id) else { return };
    page.view.page = 0;
    page.view.reversed = if dim == now {
        !descending
    } else {
        // What is to be large comes with the largest first.
        data.objectives.iter().any(|one| one.max && Dim::Metric(one.metric) == dim)
    };
    id.clone_into(&mut page.view.sort);
}

fn show_axis(page: &mut Live, data: &Data, id: &str, on: bool) {
    let mut ids: Vec<String> =
        page.view.axis_dims(data).into_iter().map(|dim| data.dim_id(dim)).collect();
    ids.retain(|known| known != id);
    if on {
        ids.push(id.to_owned());
    }
    if ids.len() < 2 {
        page.say("At least two axes are shown.");
        // The box that was unchecked is checked again.
        page.changed = true;
        return;
    }
    page.view.axes = ids;
}

/// An end of a range that was typed or chosen.
fn set_end(page: &mut Live, data: &Data, side: &str, id: &str, value: &str) {
    let Some(dim) = data.find(id) else { return };
    let factor = match dim {
        Dim::Knob(_) => 1.0,
        Dim::Metric(place) => format::axis(data.metrics[place]).0,
    };
    let typed = decimal::parse(value.trim()).map(|number| number * factor);
    let (lowest, highest) = (End::Number(f64::NEG_INFINITY), End::Number(f64::INFINITY));
    let now = page.view.brush(id).map(|range| (range.from.clone(), range.to.clone()));
    let (mut from, mut to) = now.unwrap_or((lowest.clone(), highest.clone()));
    let end = |usual: &End| typed.map_or(usual.clone(), |number| data.end(dim, number));
    if side == "from" {
        from = end(&lowest);
    } else {
        to = end(&highest);
    }
    let open = from == lowest && to == highest;
    page.view.set_brush(id, (!open).then_some((from, to)));
}

/// A click on a picture: the place counts, as a finger leaves before it clicks.
fn click(page: &mut Live, id: &str, at: (f64, f64)) {
    let Some(data) = page.data.take() else { return };
    if id == "heat" {
        let grid = page.view.heat_knobs(&data).map(|knobs| Grid::of(&data, knobs));
        page.cell = cell_at(page, &data, at);
        let best = grid.zip(page.cell).and_then(|(grid, cell)| Some(grid.at(cell)?.best.1));
        if let Some(best) = best {
            go_to(&data.design_address(best));
        }
    } else if let Some(row) = design_at(page, &data, id, at) {
        page.view.at = Some(data.rows.index[row]);
    } else if id == "scatter" {
        page.view.at = None;
    }
    page.data = Some(data);
}

fn open_current(live: &Shared, event: &Event) {
    let on_picture = event.dyn_ref::<MouseEvent>().and_then(picture);
    let is_scatter = on_picture.is_some_and(|(id, _)| id == "scatter");
    let page = live.borrow();
    if let (true, Some(data), Some(row)) = (is_scatter, &page.data, page.current()) {
        go_to(&data.design_address(data.rows.index[row]));
    }
}

fn go_to(address: &str) {
    // A navigation that is refused leaves the page as it is.
    let _ = window().location().assign(address);
}

/// Keys on a picture.
fn key(live: &Shared, event: &KeyboardEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok());
    let Some(id) = target.map(|target| target.id()) else { return };
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    let mut page = live.borrow_mut();
    let Some(data) = page.data.take() else { return };
    let mut open = None;
    let taken = match id.as_str() {
        "scatter" | "parallel" => design_key(&mut page, &data, &event.key(), &mut open),
        "heat" => cell_key(&mut page, &data, &event.key(), &mut open),
        _ => false,
    };
    page.data = Some(data);
    drop(page);
    if taken {
        event.prevent_default();
    }
    if let Some(address) = open {
        go_to(&address);
    }
    due(live);
}

/// Goes from design to design.
fn design_key(page: &mut Live, data: &Data, key: &str, open: &mut Option<String>) -> bool {
    let now = page.hover.or_else(|| data.row_of(page.view.at?));
    match key {
        "ArrowRight" | "ArrowUp" | "ArrowLeft" | "ArrowDown" => {
            let forward = matches!(key, "ArrowRight" | "ArrowUp");
            let next = page.plot.and_then(|plot| plot.step(data, &page.selection, now, forward));
            page.hover = None;
            page.view.at = next.map(|row| data.rows.index[row]).or(page.view.at);
            if let Some(row) = next {
                let first = data.first().map_or(0, |one| one.metric);
                let dim = Dim::Metric(first);
                page.say(&format!(
                    "{} {}, {}",
                    data.label(dim),
                    data.text(dim, row),
                    parts::knobs_text(data, row),
                ));
            }
        }
        "Enter" => *open = now.map(|row| data.design_address(data.rows.index[row])),
        "p" | "P" => {
            if let Some(row) = now {
                let _ = page.view.pin(data.rows.index[row]);
            }
        }
        "Escape" => {
            page.hover = None;
            page.view.at = None;
        }
        _ => return false,
    }
    true
}

/// Goes from cell to cell.
fn cell_key(page: &mut Live, data: &Data, key: &str, open: &mut Option<String>) -> bool {
    let Some(knobs) = page.view.heat_knobs(data) else { return false };
    let grid = Grid::of(data, knobs);
    let last = grid.bins.map(|bins| bins.saturating_sub(1));
    let now = page.cell.unwrap_or([0, 0]);
    let next = match key {
        "ArrowRight" => [(now[0] + 1).min(last[0]), now[1]],
        "ArrowLeft" => [now[0].saturating_sub(1), now[1]],
        "ArrowUp" => [now[0], (now[1] + 1).min(last[1])],
        "ArrowDown" => [now[0], now[1].saturating_sub(1)],
        "Enter" => {
            *open = grid.at(now).map(|cell| data.design_address(cell.best.1));
            now
        }
        _ => return false,
    };
    page.cell = Some(if page.cell.is_none() { now } else { next });
    true
}
