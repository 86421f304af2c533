use super::*;
use crate::Double;

#[test]
fn every_built_in_suite_is_one_and_has_both_doubles_in_every_task() {
    for built_in in BUILT_IN {
        let suite = built_in
            .suite()
            .unwrap_or_else(|error| panic!("{}: {error}", built_in.name));
        assert_eq!(suite.name, built_in.name);
        assert!(!suite.description.is_empty());
        for task in &suite.tasks {
            for double in Double::ALL {
                let has_it = double.instructions(task).is_some();
                assert!(has_it, "{} of {} lacks {double:?}", task.name, suite.name);
            }
        }
    }
    assert_eq!(BuiltIn::named("nothing"), None);
}
