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
