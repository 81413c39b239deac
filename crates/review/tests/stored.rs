//! Stored logs last: these are the events as the first version wrote them, one of each kind, and
//! they are never changed.

use review::wire::Tell;
use review::{Event, Room};

const LOG: &str = include_str!("stored/log-1.jsonl");

#[test]
fn events_of_the_first_version_are_read_and_written_as_they_are() {
    let events: Vec<Event> = LOG
        .lines()
        .map(|line| {
            let event: Event = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(serde_json::to_string(&event).expect("an event is text"), line);
            event
        })
        .collect();
    assert_eq!(events.len(), 19);
    let room = Room::of(&events);
    assert_eq!((room.seq, room.name.as_str()), (19, "Saturday"));
    assert_eq!((room.threads.len(), room.decisions.len()), (1, 1));
    assert_eq!((room.candidates.len(), room.proposals.len(), room.questions.len()), (1, 3, 1));

    let told = Tell::Snapshot { room: Box::new(room) };
    let text = serde_json::to_string(&told).expect("a room is text");
    assert_eq!(serde_json::from_str::<Tell>(&text).expect("it is read back"), told);
}

#[test]
fn a_change_has_the_fields_of_its_kind_and_no_others() {
    let read = serde_json::from_str::<review::Change>;
    let wrong = [
        r#"{"kind":"rename"}"#,
        r#"{"kind":"rename","name":"a","text":"b"}"#,
        r#"{"kind":"rename","name":"a","unheard":1}"#,
        r#"{"kind":"unheard"}"#,
        r#"{"name":"a"}"#,
        r#"{"kind":"decide","outcome":"maybe","reason":"b"}"#,
        r#"{"kind":"comment","anchor":"nothing","text":"b"}"#,
    ];
    for wrong in wrong {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    // The order of fields is free, and what may be left out may be null.
    assert!(read(r#"{"name":"a","link":null,"kind":"pin"}"#).is_ok());
}
