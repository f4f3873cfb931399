//! The optimiser that forgets a variable: three occurrences of one name belong together.

use crate::support::{Place, assert_evidence, assert_verified, corpus, squeezed};
use std::collections::BTreeSet;

#[test]
fn three_places_of_the_variable_are_tied_and_nothing_else() {
    let place = Place::new();
    let folder = corpus("assign");
    let summary = place.ddset(["abstract", "--format", "json", folder.to_str().unwrap()]).exits(0).json();
    assert_eq!(squeezed(summary["pattern"].as_str().unwrap()), "<$name1>=<expr>;<$name1>=<$name1>");
    assert_evidence(&summary);
    let holes = summary["holes"].as_array().unwrap();
    let tied: Vec<_> = holes.iter().filter(|hole| hole["kind"] == "same").collect();
    assert_eq!((holes.len(), tied.len()), (2, 1));
    assert_eq!((&tied[0]["symbol"], tied[0]["places"].as_array().unwrap().len()), (&"name".into(), 3));
    let free = holes.iter().find(|hole| hole["kind"] == "any").unwrap();
    assert_eq!((&free["symbol"], free["places"].as_array().unwrap().len()), (&"expr".into(), 1));
}

#[test]
fn generated_programs_fail_and_use_one_name_in_all_three_places() {
    let place = Place::new();
    place.ddset([&"abstract".into(), &corpus("assign")]).exits(0);
    let generated = place.line("generate -n 100 --verify -0").exits(0);
    // An expression that reads an undefined name is no valid program: it says nothing, and is rare since that was learned.
    assert_verified(&generated, 90..=100, 100);
    let mut names = BTreeSet::new();
    for input in generated.inputs() {
        let parts = squeezed(input);
        let (first, second) = parts.split_once(';').unwrap();
        let (name, _) = first.split_once('=').unwrap();
        assert_eq!(second, format!("{name}={name}"), "{input}");
        names.insert(name.to_owned());
    }
    assert!(names.len() > 10, "{names:?}");
}
