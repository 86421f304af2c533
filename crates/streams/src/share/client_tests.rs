use super::*;

fn view(text: &str) -> ClientView {
    ClientPage::read("https://client.example/", text).view()
}

#[test]
fn controls_are_found_by_role_and_name() {
    let page = ClientPage::read(
        "https://client.example/",
        "h1 Movie Night\n[Movie Night e1] [button Join Voice e2] [button Share Your Screen e3 disabled]\n\
         [textbox Password * e4] [textbox \"E-mail\" e5] [textbox Disconnect e6]",
    );
    let found = |control| page.find(control).map(|found| found.to_string());
    assert_eq!(found(JOIN), Some("e2".to_owned()));
    assert_eq!(found(PASSWORD), Some("e4".to_owned()));
    assert_eq!(found(EMAIL), Some("e5".to_owned()));
    assert_eq!(found(SHARE), None, "it cannot be used");
    assert_eq!(found(DISCONNECT), None, "a field is not pressed");
    assert!(!page.is_joined());
}

#[test]
fn the_form_and_its_notices_are_told_apart() {
    let form = "[textbox Email or Phone Number * e1] [textbox Password * e2] [button Log In e3]";
    assert_eq!(view("loading"), ClientView::Unknown);
    assert_eq!(view(form), ClientView::Form);
    for (notice, expected) in [
        ("Login or password is invalid.", ClientView::WrongPassword),
        ("Wait! Are you human?", ClientView::Captcha),
        ("Enter your authentication code", ClientView::SecondFactor),
        ("You are being rate limited.", ClientView::RateLimited),
        ("New login location detected", ClientView::Refused),
    ] {
        assert_eq!(view(&format!("{form}\n{notice}")), expected, "{notice}");
    }
    assert_eq!(
        view("You don't have access to this channel. [button User Settings e1]"),
        ClientView::NoChannel
    );
}

#[test]
fn people_who_write_in_the_channel_do_not_change_its_state() {
    let chat = "[button Join Voice e1] [button User Settings e2]\nanna: captcha, two-factor, channel does not exist";
    assert_eq!(view(chat), ClientView::SignedIn);
    let challenged = "[frame Widget containing checkbox for hCaptcha e3] [button Join Voice e1]";
    assert_eq!(view(challenged), ClientView::Captcha);
}

#[test]
fn every_view_that_is_not_signed_in_has_its_code() {
    for (view, code) in [
        (ClientView::Captcha, ErrorCode::Captcha),
        (ClientView::SecondFactor, ErrorCode::TwoFactorRequired),
        (ClientView::WrongPassword, ErrorCode::InvalidCreds),
        (ClientView::RateLimited, ErrorCode::DiscordRateLimit),
        (ClientView::Refused, ErrorCode::LoginFailed),
        (ClientView::Form, ErrorCode::LoginFailed),
        (ClientView::NoChannel, ErrorCode::ChannelNotFound),
    ] {
        assert_eq!(view.fault().code, code, "{view:?}");
    }
}
