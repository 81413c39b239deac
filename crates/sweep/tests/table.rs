//! The table of a sweep's rows: its cells are what its designs have.

use std::sync::atomic::AtomicBool;

use model::ground::knob::Value;
use sweep::table::{CellType, Column, Table};
use sweep::{Space, Spec, outcomes, published};

#[test]
fn cells_of_knobs_are_those_of_the_design_at_the_index() {
    for published in published() {
        let space = Space::new(Spec::from_toml(published.text).unwrap()).unwrap();
        let table = Table::new(&space);
        let values = vec![0.5; space.spec().columns.len()];
        for index in (0..97).map(|step| (space.size() - 1) / 96 * step) {
            let (record, design) = (table.record(index, &values), space.design(index));
            for (column, cell) in table.columns().iter().zip(table.cells(&record)) {
                let name = column.name();
                let expected = match column.knob() {
                    Some(knob) => design.get(knob),
                    None if *column == Column::Index => Value::Integer(index),
                    None => Value::Real(0.5),
                };
                assert_eq!(*cell, expected, "{name} of {index} in {}", published.name);
                let is_typed = match column.cells() {
                    CellType::Index | CellType::Integer => cell.as_integer().is_some(),
                    CellType::Real => cell.as_real().is_some(),
                    CellType::Flag => cell.as_flag().is_some(),
                    CellType::Text => cell.text().is_some(),
                };
                let is_unset = *cell == Value::None && column.is_optional();
                assert!(is_typed || is_unset, "{name} of {index}: {cell:?}");
            }
        }
    }
}

#[test]
fn a_record_of_an_outcome_says_what_became_of_it() {
    let spec = r#"{"schema": 1, "space": {"tp": [4, 8], "pp": [8, 16, 61]},
        "objectives": ["mfu max"], "constraints": ["mfu >= 0.4"],
        "design": {"preset": "pangu-ultra-moe-6k", "schedule": {"timing": "closed_form"}}}"#;
    let space = Space::new(Spec::from_json(spec).unwrap()).unwrap();
    let table = Table::new(&space).with([Column::Breaks, Column::NearLimit, Column::Link]);
    let (mut kept, mut broken) = (0, 0);
    outcomes(&space, 0..space.num_points(), &AtomicBool::new(false), |outcome| {
        let Some(record) = table.record_of(&outcome) else { return };
        let link = model::design::link::encode(&space.design(record.index));
        assert_eq!(*record.cell(Column::Link), Value::Text(format!("/?{link}")));
        assert_eq!(*record.cell(Column::NearLimit), Value::Flag(record.near_limit));
        let (breaks, keeps) = (record.cell(Column::Breaks), record.values[0] >= 0.4);
        let reason = (!keeps).then_some("constraint: mfu >= 0.4");
        assert_eq!(breaks.text().as_deref(), reason);
        *(if keeps { &mut kept } else { &mut broken }) += 1;
    });
    assert!(kept > 0 && broken > 0, "{kept} {broken}");
}
