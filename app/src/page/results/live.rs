//! The page's state in the browser, and what is drawn of it.

use std::collections::BTreeMap;

use leptos::prelude::document;
use leptos::wasm_bindgen::JsCast;
use maud::html;
use present::draw::palette::Hue;
use present::draw::surface::{Side, Surface as _, Words};
use present::draw::svg::SvgPicture;
use present::page::results::data::{Data, Dim};
use present::page::results::heat::{self, Grid};
use present::page::results::parallel::{self, Drawn, Faint, Grip, Lanes};
use present::page::results::parts;
use present::page::results::scatter::{self, Plot};
use present::page::results::select::{Selection, select};
use present::page::results::view::{Plotted, View};
use present::site::Page;
use web_sys::{EventSource, HtmlCanvasElement};

use super::beside::Neighbour;
use crate::browser::canvas::{Canvas, Layer, paper_palette, size};
use crate::browser::dom;
use crate::browser::download::here;
use crate::browser::replace_address;

/// Drag of a pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drag {
    pub(super) grip: Grip,
    /// Points at which it began and where it is.
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
    /// The range that it began with.
    pub(super) range: Option<(f64, f64)>,
}

/// The pictures of the page.
const PICTURES: usize = 3;

/// More designs than this are many: what takes its time waits until a hand rests.
const MANY_DESIGNS: usize = 3_000;

/// The design that is held, and an axis that is moved with where it is.
type Held = (Option<usize>, Option<(usize, f64)>);

/// Bins of both knobs.
type Bins = [usize; 2];

/// State that the overlay of each picture depends on.
#[derive(Default)]
struct Over {
    /// The axes, the design that is held, the pins.
    scatter: Option<(Plot, Option<usize>, Vec<u64>)>,
    /// The axes, the design that is held and an axis that is moved, the pins.
    parallel: Option<(Lanes, Held, Vec<u64>)>,
    /// The knobs, and the cells of the design and of the pointer.
    heat: Option<([usize; 2], [Option<Bins>; 2])>,
}

/// Drawing that stays from frame to frame, as it was last.
#[derive(Default)]
struct Layers {
    /// The axes of the scatter.
    scatter: Option<Layer<Plot>>,
    /// The axes of the parallel coordinates.
    axes: Option<Layer<Drawn>>,
    /// The lines of all designs below them.
    faint: Option<Layer<Faint>>,
}

/// The page.
pub(super) struct Live {
    pub(super) id: String,
    pub(super) data: Option<Data>,
    pub(super) view: View,
    pub(super) selection: Selection,
    /// The design that a pointer is on.
    pub(super) hover: Option<usize>,
    /// The cell that a pointer or the keys are on.
    pub(super) cell: Option<[usize; 2]>,
    pub(super) drag: Option<Drag>,
    /// Controls pressed or changed before the designs that they are about arrived.
    pub(super) early: Vec<dom::Target>,
    /// Whether the page asks for confirmation to remove the sweep.
    pub(super) removing: bool,
    /// Whether something has changed that everything follows from.
    pub(super) changed: bool,
    /// Whether pictures have another size or other colours.
    pub(super) resized: bool,
    pub(super) is_getting: bool,
    pub(super) is_waiting: bool,
    pub(super) is_stale: bool,
    pub(super) is_followed: bool,
    /// Stream of progress events.
    pub(super) source: Option<EventSource>,
    /// Whether the sweep is being removed: nothing is requested of it any more then.
    pub(super) is_leaving: bool,
    /// Whether the server is of another build than this page.
    pub(super) is_outdated: bool,
    pub(super) next_get: f64,
    is_due: bool,
    written: BTreeMap<&'static str, String>,
    /// Whether the parts are still those of a finished sweep that the server wrote.
    stands: bool,
    /// Whether there are designs that not all of the page shows yet.
    is_new: bool,
    /// Whether tables are to be written anew: they wait for the end of a drag.
    pub(super) is_behind: bool,
    /// Number of pictures drawn: at first one a frame, as all of them are a long task.
    drawn: usize,
    /// The scatter and the parallel coordinates as they were drawn last.
    pub(super) plot: Option<Plot>,
    pub(super) lanes: Option<Lanes>,
    pub(super) places: scatter::Places,
    pub(super) columns: parallel::Columns,
    layers: Layers,
    /// The base design and the pins of the explorer.
    beside: Vec<Neighbour>,
    /// State that the plot depends on, beside the designs.
    plotted: Option<Plotted>,
    /// The heatmap's knobs as they were drawn last; brushing doesn't change it.
    heated: Option<[usize; 2]>,
    /// State of the overlays as they were drawn last: a canvas that isn't touched costs nothing.
    over: Over,
    /// Source of the reasons of the heatmap's empty cells, and the reasons.
    reasons_from: String,
    reasons: BTreeMap<[usize; 2], String>,
    row_marked: Option<usize>,
}

impl Live {
    pub(super) fn new(id: String, raw: &str) -> Self {
        Self {
            id,
            data: None,
            view: View::from_query(raw),
            selection: Selection::default(),
            hover: None,
            cell: None,
            drag: None,
            early: Vec::new(),
            removing: false,
            changed: true,
            resized: false,
            is_getting: false,
            is_waiting: false,
            is_stale: false,
            is_followed: false,
            source: None,
            is_leaving: false,
            is_outdated: false,
            next_get: 0.0,
            is_due: false,
            written: BTreeMap::new(),
            stands: document().query_selector("#part-status .done").is_ok_and(|it| it.is_some()),
            is_new: false,
            is_behind: false,
            drawn: 0,
            plot: None,
            lanes: None,
            places: scatter::Places::default(),
            columns: parallel::Columns::default(),
            layers: Layers::default(),
            beside: Vec::new(),
            plotted: None,
            heated: None,
            over: Over::default(),
            reasons_from: String::new(),
            reasons: BTreeMap::new(),
            row_marked: None,
        }
    }

    /// True when nothing is about to draw yet.
    pub(super) const fn take_turn(&mut self) -> bool {
        !std::mem::replace(&mut self.is_due, true)
    }

    /// The address of something of this sweep.
    pub(super) fn address(&self, what: &str) -> String {
        format!("{}/{}/{what}", Page::Results.path(), self.id)
    }

    /// Whether some picture of the designs at hand was never drawn.
    pub(super) const fn has_more(&self) -> bool {
        self.data.is_some() && self.drawn < PICTURES
    }

    /// Takes new data in.
    pub(super) fn put(&mut self, data: Data) {
        // What is held stays held, though rows move.
        let old = self.data.as_ref();
        let held = old.zip(self.hover).and_then(|(old, row)| old.rows.index.get(row));
        self.hover = held.and_then(|index| data.row_of(*index));
        if self.data.as_ref().is_none_or(|old| old.state != data.state) && self.data.is_some() {
            self.say(&format!("The sweep is {}.", data.state));
        }
        self.data = Some(data);
        self.columns.clear();
        self.places.clear();
        self.layers = Layers::default();
        self.plotted = None;
        self.heated = None;
        self.over = Over::default();
        self.is_new = true;
        self.changed = true;
    }

    /// Whether the designs that a control is about have arrived. Picking the best waits for all of
    /// them: the front of a sweep that goes on is another one later, and of one that has just ended
    /// the last designs are on their way.
    pub(super) fn is_ready(&self, target: &dom::Target) -> bool {
        let Some(data) = self.data.as_ref() else { return false };
        let is_coming = self.is_stale || self.is_getting || self.is_waiting;
        target.act != "pin-first" || (data.state != "running" && !is_coming)
    }

    /// Takes a design in that stands beside those of the sweep.
    pub(super) fn put_beside(&mut self, design: Neighbour) {
        self.beside.push(design);
        self.over.scatter = None;
    }

    /// The sweep is over.
    pub(super) fn end(&mut self, state: &str) {
        self.set_state(state);
        self.removing = false;
        if let Some(source) = self.source.take() {
            source.close();
        }
    }

    pub(super) fn set_state(&mut self, state: &str) {
        if let Some(data) = self.data.as_mut()
            && data.state != state
        {
            state.clone_into(&mut data.state);
            self.say(&format!("The sweep is {state}."));
        }
    }

    /// Tells those who hear the page.
    pub(super) fn say(&self, text: &str) {
        if let Some(said) = document().get_element_by_id("sweep-said") {
            said.set_text_content(Some(text));
        }
    }

    /// The design that all views show: what a pointer is on, or what was clicked.
    pub(super) fn current(&self) -> Option<usize> {
        let held = || self.data.as_ref()?.row_of(self.view.at?);
        self.hover.or_else(held)
    }

    /// Draws what has changed; tells from where to get the reasons of empty cells.
    pub(super) fn draw(&mut self) -> Option<String> {
        self.is_due = false;
        let data = self.data.take()?;
        if self.changed {
            self.selection = select(&data, &self.view);
        }
        let all = self.changed || self.resized;
        if self.resized {
            self.heated = None;
            self.over = Over::default();
            self.layers = Layers::default();
        }
        if std::mem::take(&mut self.stands) {
            self.is_new = false;
        } else {
            if self.changed || self.is_behind {
                self.write_parts(&data);
            }
            self.write("part-status", parts::status(&data));
            self.write("part-actions", parts::actions(&data, self.removing));
        }
        if self.is_outdated {
            let text = "<p>This page is older than its server. <a href=\"\">Load it again</a></p>";
            self.write("part-bar", text.to_owned());
        }
        self.write("part-current", parts::current(&data, &self.view, self.current_of(&data)));
        self.mark_row(&data);
        self.paint_scatter(&data, all || self.drawn == 0);
        let mut wanted = None;
        if self.drawn >= 1 {
            wanted = self.paint_heat(&data, all || self.drawn == 1);
        }
        if self.drawn >= 2 {
            self.paint_parallel(&data, all || self.drawn == 2);
        }
        self.drawn = PICTURES.min(self.drawn + 1);
        self.changed = false;
        self.resized = false;
        self.data = Some(data);
        wanted
    }

    fn current_of(&self, data: &Data) -> Option<usize> {
        self.hover.or_else(|| data.row_of(self.view.at?))
    }

    fn write_parts(&mut self, data: &Data) {
        if std::mem::take(&mut self.is_new) {
            self.write("part-best", parts::best(data));
            self.write("part-reasons", parts::reasons(data));
            self.write("part-importance", parts::importance(data));
        }
        self.write("part-bar", parts::bar(data, &self.view, &self.selection));
        // While a range of many designs is dragged, pictures follow; tables when it is there.
        self.is_behind = self.drag.is_some() && data.rows.len() > MANY_DESIGNS;
        if self.is_behind {
            return;
        }
        let (view, selection) = (&self.view, &self.selection);
        let fresh = [
            ("part-pins", parts::pins(data, view)),
            ("part-scatter-controls", parts::scatter_controls(data, view)),
            ("part-heat-controls", parts::heat_controls(data, view)),
            ("part-heat-table", parts::heat_table(data, view)),
            ("part-axes", parts::axes(data, view)),
            ("part-table", parts::table(data, view, selection)),
        ];
        for (id, html) in fresh {
            if self.write(id, html) && id == "part-table" {
                self.row_marked = None;
            }
        }
    }

    /// Writes a part when it differs.
    fn write(&mut self, id: &'static str, html: String) -> bool {
        let differs = self.written.get(id) != Some(&html);
        if differs {
            dom::write_part(id, &html);
            self.written.insert(id, html);
        }
        differs
    }

    /// Marks the row of the table that a pointer is on in any view.
    fn mark_row(&mut self, data: &Data) {
        let row = self.current_of(data);
        if row == self.row_marked {
            return;
        }
        for (row, on) in [(self.row_marked, false), (row, true)] {
            let Some(row) = row else { continue };
            let found = document().query_selector(&format!("tr[data-row=\"{row}\"]"));
            if let Ok(Some(node)) = found {
                // A name without spaces can always be added.
                let _ = if on {
                    node.class_list().add_1("hovered")
                } else {
                    node.class_list().remove_1("hovered")
                };
            }
        }
        self.row_marked = row;
    }

    fn paint_scatter(&mut self, data: &Data, all: bool) {
        if all {
            let size = node("scatter-base").map(|canvas| size(&canvas));
            let plotted = size.map(|size| Plotted::new(&self.view, size));
            // A range that is dragged moves no axis.
            if self.plotted != plotted {
                self.plot = size.and_then(|it| Plot::new(data, &self.view, &self.selection, it));
                self.plotted = plotted;
            }
            if let Some(plot) = &self.plot {
                self.places.follow(data, plot);
            }
        }
        let plot = self.plot;
        if all && let Some(mut canvas) = canvas("scatter-base") {
            match &plot {
                Some(plot) => {
                    canvas.layer(&mut self.layers.scatter, *plot, |it| plot.axes(it, data));
                    scatter::paint(&mut canvas, data, (plot, &self.places), &self.selection);
                }
                None => nothing(&mut canvas, data),
            }
        }
        let Some(plot) = plot else { return };
        let over = Some((plot, self.current_of(data), self.view.pins.clone()));
        if self.over.scatter != over
            && let Some(mut canvas) = canvas("scatter-over")
        {
            scatter::beside(&mut canvas, data, &plot, &self.beside);
            scatter::overlay(&mut canvas, data, &plot, &self.view, self.current_of(data));
            self.over.scatter = over;
        }
    }

    fn paint_parallel(&mut self, data: &Data, all: bool) {
        if all && let Some(node) = document().get_element_by_id("parallel") {
            let least = self.view.axis_dims(data).len() as f64 * parallel::MIN_GAP;
            if let Some(node) = node.dyn_ref::<web_sys::HtmlElement>() {
                // A fixed, valid property can always be set.
                let _ = node.style().set_property("min-width", &format!("{least:.0}px"));
            }
        }
        if all {
            let size = node("parallel-base").map(|canvas| size(&canvas));
            self.lanes = size.and_then(|size| Lanes::new(data, &self.view, size));
            if let Some(lanes) = &self.lanes {
                self.columns.follow(data, lanes);
            }
        }
        let lanes = self.lanes.as_ref();
        if all && let Some(mut canvas) = canvas("parallel-base") {
            match lanes {
                Some(lanes) => {
                    let (of, view) = ((lanes.axes.clone(), canvas.size()), &self.view);
                    if self.selection.brushed < self.selection.kept {
                        let of = (of.clone(), (view.cuts.clone(), view.front_only));
                        let pictured = (lanes, &self.columns);
                        canvas.layer(&mut self.layers.faint, of, |it| {
                            parallel::paint_all(it, pictured, &self.selection);
                        });
                    }
                    let pictured = (lanes, &self.columns);
                    parallel::paint_brushed(&mut canvas, data, view, pictured, &self.selection);
                    canvas.layer(&mut self.layers.axes, of, |it| {
                        parallel::paint_axes(it, data, lanes);
                    });
                }
                None => nothing(&mut canvas, data),
            }
        }
        let Some(lanes) = lanes else { return };
        let moved = self.drag.and_then(|drag| match drag.grip {
            Grip::Name(axis) => Some((axis, drag.to.0)),
            Grip::End(..) | Grip::Inside(_) | Grip::Axis(_) => None,
        });
        let row = self.current_of(data);
        let over = Some((lanes.clone(), (row, moved), self.view.pins.clone()));
        if self.over.parallel != over
            && let Some(mut canvas) = canvas("parallel-over")
        {
            parallel::overlay(&mut canvas, data, &self.view, lanes, row, moved);
            self.over.parallel = over;
        }
    }

    /// A picture as a file, as it is looked at; `None` if there is nothing to draw.
    pub(super) fn file(&mut self, data: &Data, name: &str) -> Option<String> {
        let canvas = node(&format!("{name}-base"))?;
        let (palette, size) = (paper_palette(&canvas)?, size(&canvas));
        let mut file = SvgPicture::new(&palette);
        let selection = &self.selection;
        let title = match name {
            "scatter" => {
                let plot = self.plot.as_ref()?;
                plot.axes(&mut file, data);
                scatter::paint(&mut file, data, (plot, &self.places), selection);
                scatter::beside(&mut file, data, plot, &self.beside);
                "Trade-off"
            }
            "parallel" => {
                let lanes = self.lanes.as_ref()?;
                let pictured = (lanes, &self.columns);
                if selection.brushed < selection.kept {
                    parallel::paint_all(&mut file, pictured, selection);
                }
                parallel::paint_brushed(&mut file, data, &self.view, pictured, selection);
                parallel::paint_axes(&mut file, data, lanes);
                "All knobs at once"
            }
            _ => {
                let grid = Grid::of(data, self.view.heat_knobs(data)?);
                let place = heat::Place::new(&grid, size);
                heat::paint(&mut file, data, &grid, &place);
                "Two knobs"
            }
        };
        Some(file.finish(size, title, "", &here().svg()))
    }

    fn paint_heat(&mut self, data: &Data, all: bool) -> Option<String> {
        let Some(knobs) = self.view.heat_knobs(data) else {
            if all && let Some(mut canvas) = canvas("heat-base") {
                empty(&mut canvas, "A heatmap takes two knobs that vary");
            }
            return None;
        };
        let grid = Grid::of(data, knobs);
        let is_new = self.heated != Some(knobs);
        if is_new && let Some(mut canvas) = canvas("heat-base") {
            self.heated = Some(knobs);
            if grid.is_kept {
                let place = heat::Place::new(&grid, canvas.size());
                heat::paint(&mut canvas, data, &grid, &place);
            } else {
                empty(&mut canvas, "The space is too large to keep these two knobs");
            }
        }
        let current = self.current_of(data).and_then(|row| grid.cell_of(data, row));
        let over = Some((knobs, [current, self.cell]));
        if self.over.heat != over
            && let Some(mut canvas) = canvas("heat-over")
        {
            let place = heat::Place::new(&grid, canvas.size());
            let hues = [Hue::Text, Hue::Accent];
            for (cell, hue) in [current, self.cell].into_iter().zip(hues) {
                cell.into_iter().for_each(|cell| heat::frame(&mut canvas, &place, cell, hue));
            }
            self.over.heat = over;
        }
        self.say_cell(data, &grid);
        let knob = |knob: usize| data.dim_id(Dim::Knob(knob));
        let from = format!("cells?x={}&y={}", knob(grid.knobs[0]), knob(grid.knobs[1]));
        let address = self.address(&from);
        if grid.is_kept && address != self.reasons_from {
            self.reasons_from.clone_from(&address);
            self.reasons.clear();
            return Some(address);
        }
        None
    }

    /// Takes in why cells are empty: a line for each with both bins and the words.
    pub(super) fn take_reasons(&mut self, address: &str, text: &str) {
        if address != self.reasons_from {
            return;
        }
        for line in text.lines() {
            let mut parts = line.splitn(3, ' ');
            let mut bin = || parts.next()?.parse().ok();
            if let (Some(across), Some(up)) = (bin(), bin()) {
                let words = parts.next().unwrap_or_default().to_owned();
                self.reasons.insert([across, up], words);
            }
        }
    }

    /// Says what is in the cell that a pointer or the keys are on.
    fn say_cell(&mut self, data: &Data, grid: &Grid) {
        let Some(objective) = data.first() else { return };
        let Some(at) = self.cell else { return };
        let [across, up] = [0, 1].map(|side| {
            let label = data.label(Dim::Knob(grid.knobs[side]));
            format!("{label} {}", grid.label(data, side, at[side]))
        });
        let dim = Dim::Metric(objective.metric);
        let said = match grid.at(at) {
            Some(cell) => format!(
                "{across}, {up}: best {} {} of {}.",
                data.label(dim),
                data.spelled(dim, cell.best.0),
                present::format::counted(cell.feasible, "feasible design", "feasible designs"),
            ),
            None => {
                let so_far = if data.is_over() { "" } else { " so far" };
                let why = self.reasons.get(&at).map(|why| format!(" {why}")).unwrap_or_default();
                format!("{across}, {up}: no feasible design{so_far}.{why}")
            }
        };
        let looked = grid.at(at).and_then(|cell| data.simulated_text(dim, cell.best.1));
        let html = html! {
            span { (said) }
            @if let Some(looked) = looked {
                " " span { "By its closed form;" } " " span { (looked) }
            }
        };
        self.write("heat-said", html.into_string());
    }

    /// Writes how the page is looked at into the address.
    pub(super) fn write_address(&self) {
        let query = self.view.query();
        let joint = if query.is_empty() { "" } else { "?" };
        let to = format!("{}/{}{joint}{query}", Page::Results.path(), self.id);
        replace_address(&to);
    }
}

/// A canvas of the page by its id.
pub(super) fn node(id: &str) -> Option<HtmlCanvasElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// Drawing surface of a canvas by its id; `None` while it isn't shown.
fn canvas(id: &str) -> Option<Canvas> {
    Canvas::on(&node(id)?)
}

/// Says that there is no design to draw.
fn nothing(canvas: &mut Canvas, data: &Data) {
    let over = data.is_over();
    let text = if over { "No feasible design" } else { "No feasible design yet" };
    empty(canvas, text);
}

/// Says why there is nothing to draw.
fn empty(canvas: &mut Canvas, text: &str) {
    let (width, height) = canvas.size();
    canvas.words(Words::new(text, (width / 2.0, height / 2.0), Side::Center, Hue::Quiet));
}
