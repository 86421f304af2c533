//! Broken scenario files.

use deskhand_testkit::fuzz;

use super::{DEMO_YAML, scenario::Scenario};

const TROUBLE: &str = r#"
plays: anthropic/claude-opus-5-5
price: {input: 3, output: 15}
turns:
  - steps:
      - text: "I look. {{prompt}}"
        wait_ms: 5
        calls:
          - computer: {action: left_click, coordinate: [10, 20]}
          - bash: {command: "true"}
  - steps:
      - text: "Done."
"#;

#[test]
fn fuzz_scenarios() {
    let seeds = [DEMO_YAML.as_bytes(), TROUBLE.as_bytes(), b"steps: []"];
    fuzz("scenarios", &seeds, |input| {
        if let Err(error) = Scenario::read(&String::from_utf8_lossy(input), None) {
            assert!(!error.to_string().is_empty());
        }
    });
}
