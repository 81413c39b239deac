//! What the views of a sweep make of its result: columns, scales, selections.

use model::design::file::json;
use model::metric::MetricId;

use super::data::{self, Data, Dim, Standing};
use super::scale::{scale, ticks};
use super::select::{first_of_front, rows, select, some_rows};
use super::view::{End, Range};
use super::{Grid, View, heat, parallel, parts, scatter, wire};
use crate::draw::palette::tests::palette;
use crate::draw::svg::SvgPicture;

/// Three designs of two knobs, of which one is on the front.
const RESULT: &str = r#"{
  "name": "A <small> one", "designs": 12, "asked": 12, "done": 12, "legal": 6, "feasible": 3,
  "ruled_out": [{"reason": "heads_divide", "designs": 6},
                {"reason": "constraint: fits", "designs": 3}],
  "objectives": [{"metric": "mfu", "goal": "max", "best": [], "quantiles": {}},
                 {"metric": "memory_peak_bytes", "goal": "min", "best": [], "quantiles": {}}],
  "front": [{"index": 9, "link": "?",
             "knobs": {"parallel.tensor_model_parallel_size": 8,
                       "memory.swap_modules": ["probs", "activations"]},
             "metrics": {"mfu": 0.5, "memory_peak_bytes": 4294967296.0}}],
  "axes": [
    {"knob": "parallel.tensor_model_parallel_size", "importance": 0.4, "values": [
      {"value": 2, "legal": 2, "feasible": 0, "mean": null, "best": null, "best_index": null},
      {"value": 4, "legal": 2, "feasible": 2, "mean": 0.35, "best": 0.4, "best_index": 5},
      {"value": 8, "legal": 2, "feasible": 1, "mean": 0.5, "best": 0.5, "best_index": 9}]},
    {"knob": "memory.swap_modules", "importance": 0.1, "values": [
      {"value": "none", "legal": 3, "feasible": 1, "mean": 0.3, "best": 0.3, "best_index": 4},
      {"value": ["probs", "activations"], "legal": 3, "feasible": 2, "mean": 0.45, "best": 0.5,
       "best_index": 9}]}],
  "pairs": [{"knobs": ["parallel.tensor_model_parallel_size", "memory.swap_modules"],
             "bins": [3, 2], "cells": [[1, 0, 1, 0.3, 4], [1, 1, 1, 0.4, 5], [2, 1, 1, 0.5, 9]]}],
  "sample": {"columns": ["index", "parallel.tensor_model_parallel_size", "memory.swap_modules",
                         "mfu", "memory_peak_bytes"],
             "rows": [[4, 4, "none", 0.3, 8589934592.0],
                      [5, 4, ["probs", "activations"], 0.4, 6442450944.0],
                      [9, 8, ["probs", "activations"], 0.5, 4294967296.0]]}
}"#;

fn small() -> Data {
    data::read("0123", "done", &json::parse(RESULT).unwrap())
}

#[test]
fn a_result_becomes_columns_and_comes_over_the_wire() {
    let data = small();
    assert_eq!(data.rows.index, [4, 5, 9]);
    assert_eq!(data.rows.front, [false, false, true]);
    assert_eq!(data.text(Dim::Knob(0), 2), "8");
    assert_eq!(data.text(Dim::Knob(1), 2), "probs,activations");
    assert_eq!(data.text(Dim::Metric(1), 2), "4.0 GiB");
    assert_eq!(data.knobs[0].values, ["2", "4", "8"], "values without a design are there too");
    assert_eq!(wire::decode(&wire::encode(&data)), Some(data));
}

#[test]
fn bytes_that_are_cut_off_are_no_data() {
    let bytes = wire::encode(&small());
    for length in 0..bytes.len() {
        assert_eq!(wire::decode(&bytes[..length]), None, "{length}");
    }
    let mut other = bytes.clone();
    other[0] ^= 1;
    assert_eq!(wire::decode(&other), None);
}

#[test]
fn a_view_comes_back_from_its_own_address() {
    let query = "x=mfu&y=memory_peak_bytes&log=mfu,step_time_seconds&clip=1&front=1&\
                 heat_x=a&heat_y=b&axes=a,b&brush=mfu~0.1~max!tp~0~2&keep=mfu~0~1&\
                 drop=tp~min~1&q=tp%3D8&sort=-mfu&page=3&pins=4,9&at=5";
    let view = View::from_query(query);
    assert_eq!(view.query(), query);
    assert_eq!(view.cuts.len(), 2);
    assert_eq!(view.brushes[0].to, End::Number(f64::INFINITY));
    assert_eq!(View::default().query(), "");
}

#[test]
fn an_address_written_by_hand_is_never_an_error() {
    let data = small();
    for query in [
        "?",
        "&&=",
        "brush=",
        "brush=mfu~x~y",
        "brush=~~!!",
        "keep=nonsense",
        "pins=-1",
        "page=0",
        "x=%zz",
        "heat_x=mfu&heat_y=mfu",
        "axes=mfu",
        "brush=mfu~NaN~inf",
        "pins=1,2,3,4,5",
        "sort=-",
    ] {
        let view = View::from_query(query);
        assert!(view.pins.len() <= 4, "{query}");
        let selection = select(&data, &view);
        assert_eq!(rows(&data, &view, &selection).len(), selection.brushed, "{query}");
        assert!(parts::table(&data, &view, &selection).contains("</table>"), "{query}");
        assert!(view.axis_dims(&data).len() >= 2, "{query}");
    }
}

#[test]
fn designs_are_brushed_kept_and_excluded() {
    let data = small();
    let mut view = View::default();
    let id = "parallel.tensor_model_parallel_size";
    view.set_brush(id, Some((End::Number(1.0), End::Number(1.0))));
    assert_eq!(select(&data, &view).level, [2, 2, 1]);
    view.cut(false);
    assert_eq!(select(&data, &view).level, [0, 0, 2]);
    assert_eq!(View::from_query(&view.query()), view);
    view.cuts[0].keep = true;
    assert_eq!(select(&data, &view).level, [2, 2, 0]);
    view.cuts.clear();
    view.front_only = true;
    assert_eq!(select(&data, &view).kept, 1);
}

/// The result with a knob that follows from another, over designs with these values of it.
fn following(values: [u64; 3]) -> Data {
    let id = "training.global_batch_size";
    let mut text = RESULT
        .replace("\"columns\": [\"index\", ", &format!("\"columns\": [\"index\", \"{id}\", "));
    for (index, value) in [4, 5, 9].into_iter().zip(values) {
        text = text.replace(&format!("[{index}, "), &format!("[{index}, {value}, "));
    }
    text = text.replace("\"knobs\": {", &format!("\"knobs\": {{\"{id}\": {}, ", values[2]));
    data::read("0123", "done", &json::parse(&text).unwrap())
}

#[test]
fn a_range_of_a_knob_that_follows_means_the_same_values_over_other_designs() {
    let few = following([16, 16, 64]);
    let dim = few.find("training.global_batch_size").unwrap();
    assert!(few.follows(dim) && !few.follows(Dim::Knob(1)) && !few.follows(Dim::Metric(0)));
    let mut view = View::default();
    let range = (few.end(dim, 1.0), few.end(dim, 1.0));
    view.set_brush("training.global_batch_size", Some(range));
    assert_eq!(select(&few, &view).level, [1, 1, 2]);
    assert_eq!(view.query(), "brush=training.global_batch_size~%3D64~%3D64");
    let view = View::from_query(&view.query());
    // More designs have come, and with them values before this one.
    assert_eq!(select(&following([16, 32, 64]), &view).level, [1, 1, 2]);
    assert_eq!(select(&following([64, 32, 128]), &view).level, [2, 1, 1]);
    assert_eq!(select(&following([16, 32, 128]), &view).level, [1, 1, 1], "none has it any more");
    let between = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|text| End::Value(text.to_owned()));
        few.numbers(dim, &Range { dim: String::new(), from, to })
    };
    assert_eq!(between("2", "999"), (0.0, 1.0));
    assert_eq!(between("17", "63"), (1.0, 0.0), "nothing is between");
}

#[test]
fn a_page_of_the_table_is_that_part_of_all_rows() {
    let data = small();
    for query in ["", "sort=-mfu", "sort=memory_peak_bytes", "q=tp%3D4", "front=1"] {
        let view = View::from_query(query);
        let selection = select(&data, &view);
        let all = rows(&data, &view, &selection);
        for start in 0..4 {
            for end in start..5 {
                let (some, count) = some_rows(&data, &view, &selection, start..end);
                let expected: Vec<usize> = all.iter().copied().take(end).skip(start).collect();
                assert_eq!((some, count), (expected, all.len()), "{query} {start} {end}");
            }
        }
    }
}

#[test]
fn designs_are_pinned_together_as_far_as_there_is_room() {
    let mut view = View::default();
    assert!(view.pin_all([5, 9, 5, 1].into_iter()));
    assert_eq!(view.pins, [5, 9, 1]);
    // Who presses twice keeps what is pinned.
    assert!(view.pin_all([5, 9, 1].into_iter()));
    assert_eq!(view.pins, [5, 9, 1]);
    assert!(!view.pin_all([2, 3].into_iter()));
    assert_eq!(view.pins, [5, 9, 1, 2]);
}

#[test]
fn what_is_only_listed_otherwise_leaves_pictures_as_they_are() {
    let view = View::from_query("brush=mfu~0.1~0.2&words=x");
    let listed = "brush=mfu~0.1~0.2&q=tp&sort=-mfu&page=3&pins=4,9&at=9";
    assert!(View::from_query(listed).pictures_as(&view));
    for query in ["brush=mfu~0.1~0.3", "brush=mfu~0.1~0.2&front=1", "brush=mfu~0.1~0.2&log=mfu"] {
        assert!(!View::from_query(query).pictures_as(&view), "{query}");
    }
}

#[test]
fn a_word_is_found_where_the_cells_of_a_design_have_it() {
    let data = small();
    let text = |row: usize| {
        let cell = |dim: Dim| format!("{}={} ", data.label(dim), data.text(dim, row));
        let front = if data.rows.front[row] { "front" } else { "" };
        let cells: String = data.dims().map(cell).collect();
        format!(" {} {front} {cells}", data.rows.index[row]).to_lowercase()
    };
    let texts: Vec<String> = (0..data.rows.len()).map(text).collect();
    // Every word of every cell, half of it, and what is nowhere.
    let mut words: Vec<String> =
        texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
    words.extend(words.clone().iter().map(|word| word.chars().take(word.len() / 2).collect()));
    words.extend(["=", "tp=", "tp=1", "mfu=0", "9", "fro", "frontier", "%"].map(str::to_owned));
    let mut found = 0;
    for word in words.iter().filter(|word| !word.is_empty()) {
        let has = |text: &String| match word.contains('=') {
            true => text.contains(&format!(" {word} ")),
            false => text.contains(word.as_str()),
        };
        let expected: Vec<usize> = (0..texts.len()).filter(|row| has(&texts[*row])).collect();
        let view = View { words: word.clone(), ..View::default() };
        let mut all = rows(&data, &view, &select(&data, &view));
        all.sort_unstable();
        assert_eq!(all, expected, "{word}: {texts:?}");
        found += expected.len();
    }
    assert!(found > words.len(), "{found} of {}", words.len());
}

#[test]
fn a_heatmap_turns_with_its_knobs() {
    let data = small();
    let grid = Grid::of(&data, [0, 1]);
    assert_eq!((grid.bins, grid.at([2, 1]).unwrap().best.1), ([3, 2], 9));
    assert!(grid.at([0, 0]).is_none());
    let turned = Grid::of(&data, [1, 0]);
    assert_eq!((turned.bins, turned.at([1, 2]).unwrap().best.1), ([2, 3], 9));
    assert!(turned.at([2, 0]).is_none());
    assert_eq!(grid.cell_of(&data, 0), Some([1, 0]));
    assert!(!Grid::of(&data, [0, 0]).is_kept);
}

#[test]
fn pictures_as_files_are_well_formed_and_have_all_designs() {
    let (data, view, size) = (small(), View::default(), (640.0, 400.0));
    let (selection, palette) = (select(&data, &view), palette(false));
    let grid = Grid::of(&data, [0, 1]);
    let (mut places, mut columns) = <(scatter::Places, parallel::Columns)>::default();
    let plot = scatter::Plot::new(&data, &view, &selection, size).unwrap();
    places.follow(&data, &plot);
    let lanes = parallel::Lanes::new(&data, &view, size).unwrap();
    columns.follow(&data, &lanes);
    let files = [0, 1, 2].map(|which| {
        let mut file = SvgPicture::new(&palette);
        match which {
            0 => {
                plot.axes(&mut file, &data);
                scatter::paint(&mut file, &data, (&plot, &places), &selection);
                scatter::overlay(&mut file, &data, &plot, &view, Some(1));
            }
            1 => {
                let pictured = (&lanes, &columns);
                parallel::paint_brushed(&mut file, &data, &view, pictured, &selection);
                parallel::paint_axes(&mut file, &data, &lanes);
                parallel::overlay(&mut file, &data, &view, &lanes, Some(1), None);
            }
            _ => heat::paint(&mut file, &data, &grid, &heat::Place::new(&grid, size)),
        }
        file.finish(size, "A", "", "")
    });
    for file in &files {
        let document = roxmltree::Document::parse(file).expect("well-formed");
        assert!(document.descendants().any(|node| node.has_tag_name("text")), "{file}");
        assert!(!file.contains("NaN"), "{file}");
    }
    // Two dots as arcs and the diamond of the front; three cells with a design and three without.
    assert_eq!(files[0].matches("a2.5").count(), 4);
    assert_eq!(files[0].matches("<polygon").count(), 1);
    assert_eq!(files[2].matches("url(#tile0)").count(), 3);
}

#[test]
fn texts_are_only_texts() {
    let data = Data { ruled_out: vec![("<script>".into(), 1)], ..small() };
    let view = View::default();
    let selection = select(&data, &view);
    let all = [parts::reasons(&data), parts::table(&data, &view, &selection)].concat();
    assert!(!all.contains("<script"), "{all}");
    assert!(parts::csv(&data, &view, &selection).contains("\"probs,activations\""));
}

#[test]
fn axes_have_round_numbers_and_places_that_come_back() {
    let data = small();
    let memory = Dim::Metric(1);
    for log in [false, true] {
        let scale = scale(memory, data.extent(memory).unwrap(), log);
        for place in [0.0, 0.3, 1.0] {
            assert!((scale.place(scale.number(place)) - place).abs() < 1e-9);
        }
        let ticks = ticks(&scale, &data, memory, 5);
        assert!((2..=7).contains(&ticks.len()), "{ticks:?}");
        assert!(ticks.iter().all(|(_, text)| text.len() <= 4), "{ticks:?}");
    }
    let alone = scale(memory, (5.0, 5.0), true);
    assert!(alone.place(5.0).is_finite());
    let wide = scale(Dim::Metric(0), (20_000.0, 60_000.0), false);
    let millions = ticks(&wide, &data, Dim::Metric(0), 5);
    assert!(!millions.is_empty());
    assert!(millions.iter().all(|(_, it)| it.ends_with(" M") && it.len() <= 7), "{millions:?}");
}

#[test]
fn a_row_says_its_state_beside_how_likely_it_fits() {
    let shown = |number| data::shown(MetricId::fit_probability, number);
    assert_eq!(shown(0.93), "93 %, fits");
    assert_eq!(shown(0.57), "57 %, tight");
    assert_eq!(shown(0.02), "2 %, does not fit");
}

/// The result as it is when the best were simulated: design 9 doesn't fit, design 5 does and is
/// on the front, design 4 is near the limit and wasn't looked at.
fn simulated() -> Data {
    let knobs = r#""knobs": {"parallel.tensor_model_parallel_size": 8,
                             "memory.swap_modules": ["probs", "activations"]}"#;
    let design = |index: u64, breaks: &str, mfu: f64| {
        format!(
            r#"{{"index": {index}, "timing": "simulated", "near_limit": false, "breaks": {breaks},
               {knobs}, "metrics": {{"mfu": {mfu}, "memory_peak_bytes": 6442450944.0}},
               "closed_form": {{"mfu": 0.5, "memory_peak_bytes": 6442450944.0}}}}"#
        )
    };
    let rejected = design(9, "\"constraint: fits\"", 0.49);
    let text = format!(
        "{{\"near_limit\": 2, \"simulated\": {{\"designs\": 2, \"front_left_out\": 0, \
         \"rejected\": [{rejected}]}}, \"front\": [{}],",
        design(5, "null", 0.45)
    );
    let rest = RESULT.trim_start().trim_start_matches('{').replace("\"front\":", "\"before\":");
    let rest = rest.replace("\"sample\": {", "\"sample\": {\"near_limit\": [4], ");
    data::read("0123", "done", &json::parse(&(text + &rest)).unwrap())
}

#[test]
fn both_numbers_of_a_simulated_design_are_shown_and_what_fails_is_in_no_good_list() {
    let data = simulated();
    let standings = [Standing::NearLimit, Standing::Simulated, Standing::Unfit];
    assert_eq!(data.rows.standing, standings);
    assert_eq!(data.rows.front, [false, true, false]);
    assert_eq!(wire::decode(&wire::encode(&data)), Some(data.clone()));
    let view = View::default();
    let selection = select(&data, &view);
    let table = parts::table(&data, &view, &selection);
    for text in ["near the limit: not simulated", "simulated: over the limit", "45.0 %", "(50.0 %)"]
    {
        assert!(table.contains(text), "{text}: {table}");
    }
    let best = parts::best(&data);
    assert!(best.contains("45.0 %") && best.contains("closed form 50.0 %"), "{best}");
    assert!(!best.contains("49.0 %"), "what doesn't fit is no best design: {best}");
    assert_eq!(first_of_front(&data, &view, &selection), [5]);
    let said = parts::pinned(&data, &view, &[5]);
    assert_eq!(said, "Pinned design 5 of the front, simulated, in order of MFU.");
    assert!(data.is_simulated(5) && data.is_simulated(9) && !data.is_simulated(4));
    let status = parts::status(&data);
    assert!(status.contains("were simulated: 2 designs, 1 not kept."), "{status}");
    // The best of a cell is its closed form's choice: its simulated result is beside it.
    let cells = parts::heat_table(&data, &view);
    assert!(cells.contains("simulated: over the limit"), "{cells}");
    assert!(cells.contains("simulated 45.0 %"), "{cells}");
    let grid = Grid::of(&data, [0, 1]);
    for size in [(640.0, 400.0), (160.0, 120.0)] {
        let palette = palette(false);
        let mut file = SvgPicture::new(&palette);
        heat::paint(&mut file, &data, &grid, &heat::Place::new(&grid, size));
        assert!(file.finish(size, "A", "", "").contains('✗'), "{size:?}");
    }
}

#[test]
fn a_sweep_leads_to_a_search_around_its_best_and_without_one_from_its_base() {
    let data = simulated();
    let best = parts::best(&data);
    assert!(best.contains("/find/5\">Find around it</a>"), "{best}");
    let base = "v=1&preset=glm-4.5".to_owned();
    let counts = data::Counts { feasible: 0, ..data.counts };
    let empty = Data { rows: data::Rows::default(), counts, base, ..small() };
    let html = parts::best(&empty);
    assert!(html.contains("href=\"/find?v=1&amp;preset=glm-4.5\">Find layouts that fit"), "{html}");
}

#[test]
fn a_finished_sweep_without_a_design_offers_to_free_what_rules_out_most() {
    let freed = data::Freed {
        knobs: vec!["parallel.sequence_parallel".to_owned()],
        tried: 4_410,
        designs: 4_410,
        legal: 399,
        feasible: 46,
    };
    let empty = Data { rows: data::Rows::default(), freed: vec![freed], ..small() };
    let html = parts::best(&empty);
    assert!(html.contains("/sweep?sweep=0123&amp;free=parallel.sequence_parallel"), "{html}");
    assert!(html.contains("399 legal, 46 feasible, of 4,410 designs evaluated"), "{html}");
    let view = View::default();
    let table = parts::table(&empty, &view, &select(&empty, &view));
    for text in [&html, &table, &parts::reasons(&empty)] {
        assert!(!text.contains("yet") && !text.contains("so far"), "{text}");
    }
    let running = Data { state: "running".into(), ..empty };
    assert!(parts::best(&Data { counts: data::Counts::default(), ..running }).contains("yet"));
}
