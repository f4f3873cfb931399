//! The example of an oracle without a process says what it is meant to say.

#[path = "../examples/property.rs"]
#[allow(dead_code, unreachable_pub, reason = "an example is a program")]
mod example;

#[test]
fn the_failing_input_of_a_property_is_explained() {
    for jobs in [1, 2] {
        let (smallest, pattern) = example::explained(jobs).unwrap();
        assert_eq!((smallest.as_str(), pattern.as_str()), ("0-(0-0)", "<term>-(<term>-<term>)"));
    }
}
