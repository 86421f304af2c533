//! The page that both servers open: a shop with many products and a form.

use std::fmt::Write;

/// The button that is clicked, and the field that is typed into.
pub(super) const BUTTON: &str = "Count visitors";
pub(super) const FIELD: &str = "Your message";
pub(super) const FIFTY: &str = "Fifty characters, neither more of them nor fewer..";

const N_PRODUCTS: u32 = 60;

/// Returns the page.
pub(super) fn html() -> String {
    let mut products = String::new();
    for n in 1..=N_PRODUCTS {
        // Writing to a string cannot fail.
        let _ = write!(
            products,
            "<li class=card><h3><a href='/tea/{n}'>Tea number {n}</a></h3>\
             <p>A fine tea from garden {n}, dried in the shade and packed by hand.</p>\
             <p><span>{n}.50 €</span> <button>Put tea {n} into the basket</button></p></li>"
        );
    }
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>A shop for tea</title>\
         <style>body{{font:16px sans-serif}}.card{{display:inline-block;width:220px;vertical-align:top}}</style>\
         <nav><a href='/'>Home</a> <a href='/teas'>Teas</a> <a href='/about'>About us</a></nav><main><h1>Teas</h1>\
         <p><button id=b>{BUTTON}</button> <output id=o>0</output></p>\
         <form><label>{FIELD} <input id=i></label> <label><input type=checkbox> I agree</label></form>\
         <ul>{products}</ul></main>\
         <script>b.onclick = () => o.textContent = +o.textContent + 1</script></html>"
    )
}

/// Returns a command that waits until the page is served.
pub(super) fn wait_until_served(port: u16) -> String {
    format!("until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.05; done")
}

/// Returns the reference of the element with this role and name in a snapshot of either server.
pub(super) fn reference(snapshot: &str, role: &str, name: &str) -> String {
    // Ours is `[button Buy e8]`, and the other one is `button "Buy" [ref=e8]`.
    let ours = format!("[{role} {name} ");
    let theirs = format!("{role} \"{name}\"");
    let after = |start: &String| snapshot.split_once(start.as_str()).map(|found| found.1);
    let rest = after(&ours).or_else(|| after(&theirs));
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    // An element has a number, and its frame may have one, too.
    let is_reference = |word: &&str| match word.split_once('e') {
        Some(("", element)) => is_number(element),
        Some((frame, element)) => {
            frame.strip_prefix('f').is_some_and(is_number) && is_number(element)
        }
        None => false,
    };
    let mut words = rest
        .unwrap_or_default()
        .split(|one: char| !one.is_ascii_alphanumeric());
    let found = words.find(is_reference);
    found
        .unwrap_or_else(|| panic!("no {role} {name:?} in the snapshot:\n{snapshot}"))
        .to_owned()
}
