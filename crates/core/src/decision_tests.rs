use super::*;

fn choices(several: bool) -> Form {
    let choice = |value: &str| Choice {
        value: value.to_owned(),
        label: value.to_uppercase(),
    };
    Form::Choices {
        choices: vec![choice("a"), choice("b"), choice("c")],
        several,
    }
}

fn values(values: &[&str]) -> Reply {
    Reply::Choices(values.iter().map(|value| (*value).to_owned()).collect())
}

#[test]
fn replies_are_held_against_the_form() {
    let text = |text: &str| Reply::Text(text.to_owned());
    assert_eq!(Form::Text.check(text("yes")), Ok(text("yes")));
    assert_eq!(Form::Text.check(text(" \n")), Err(BadReply::Empty));
    let long = "ü".repeat(LONGEST_ANSWER_BYTES / 2 + 1);
    assert_eq!(Form::Text.check(text(&long)), Err(BadReply::Long));
    assert_eq!(Form::YesNo.check(Reply::Yes(false)), Ok(Reply::Yes(false)));
    for form in [Form::YesNo, Form::File, choices(true)] {
        let refused = form.check(text("yes"));
        assert!(
            matches!(refused, Err(BadReply::WrongForm { .. })),
            "{form:?}"
        );
    }
}

#[test]
fn only_what_is_offered_can_be_chosen() {
    let one = choices(false);
    assert_eq!(one.check(values(&["b"])), Ok(values(&["b"])));
    assert_eq!(one.check(values(&["b", "b"])), Ok(values(&["b"])));
    assert_eq!(one.check(values(&[])), Err(BadReply::NotOne));
    assert_eq!(one.check(values(&["a", "b"])), Err(BadReply::NotOne));
    let several = choices(true);
    assert_eq!(several.check(values(&["c", "a"])), Ok(values(&["a", "c"])));
    assert_eq!(several.check(values(&[])), Err(BadReply::None));
    let refused = several.check(values(&["a", "d"]));
    let told = refused.unwrap_err().to_string();
    assert_eq!(told, r#""d" is not a choice; the choices are a, b, c"#);
}

#[test]
fn a_file_has_a_plain_name_and_a_bounded_size() {
    let file = |name: &str, n_bytes: usize| GivenFile {
        name: name.to_owned(),
        bytes: vec![0; n_bytes],
    };
    assert!(file("Übersicht 2.csv", LARGEST_FILE_BYTES).head().is_ok());
    for name in ["", ".", "..", ".bashrc", "a/b", "a\\b", "a\nb"] {
        assert_eq!(file(name, 1).head(), Err(BadReply::FileName), "{name:?}");
    }
    let large = file("a", LARGEST_FILE_BYTES + 1);
    assert_eq!(large.head(), Err(BadReply::LargeFile));
}

#[test]
fn answers_are_written_as_they_always_were_and_may_say_more() {
    for (reply, json) in [
        (Reply::Text("x".to_owned()), r#"{"text":"x"}"#),
        (Reply::Choices(vec!["a".to_owned()]), r#"{"choices":["a"]}"#),
        (Reply::Yes(true), r#"{"yes":true}"#),
        (Reply::Yes(false), r#"{"yes":false}"#),
        (
            Reply::YesFor(AnswerScope::Session),
            r#"{"yes":true,"for":"session"}"#,
        ),
        (
            Reply::YesFor(AnswerScope::Always),
            r#"{"yes":true,"for":"always"}"#,
        ),
        (
            Reply::NoBecause("not now".to_owned()),
            r#"{"yes":false,"because":"not now"}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&reply).unwrap(), json);
        assert_eq!(serde_json::from_str::<Reply>(json).unwrap(), reply);
    }
    let file = r#"{"file":{"name":"a.csv","n_bytes":3}}"#;
    let reply: Reply = serde_json::from_str(file).unwrap();
    assert_eq!(serde_json::to_string(&reply).unwrap(), file);
    // Never more than was said.
    let odd: Reply = serde_json::from_str(r#"{"yes":false,"for":"always"}"#).unwrap();
    assert_eq!(odd, Reply::Yes(false));
}

#[test]
fn only_what_a_rule_can_allow_is_allowed_for_longer() {
    let approval = |rule: Option<Rule>| Ask {
        call: Some("a".to_owned()),
        kind: DecisionKind::Approval,
        prompt: "?".to_owned(),
        form: Form::YesNo,
        subject: Some(Subject {
            tool: "bash".to_owned(),
            input: serde_json::Value::Null,
        }),
        over: None,
        rule,
        default: None,
        expires_at: None,
    };
    let rule = Rule::allowing(crate::policy::RuleTool::Bash, "git push".to_owned());
    let session = Reply::YesFor(AnswerScope::Session);
    let (once, lasting) = (approval(None), approval(Some(rule)));
    assert_eq!(once.check(session.clone()), Err(BadReply::OnlyOnce));
    assert_eq!(lasting.check(session.clone()), Ok(session));
    let no = |reason: &str| once.check(Reply::NoBecause(reason.to_owned()));
    assert_eq!(no(" later "), Ok(Reply::NoBecause("later".to_owned())));
    assert_eq!(no(" "), Ok(Reply::Yes(false)));
    let long = "x".repeat(LONGEST_REASON_BYTES + 1);
    assert_eq!(no(&long), Err(BadReply::LongReason));
    let of_program = Ask { call: None, ..once };
    let refused = of_program.check(Reply::NoBecause("x".to_owned()));
    assert_eq!(refused, Err(BadReply::NoReason));
}
