//! The page used for measurements: text, boxes and colours like those of real pages, and a text area that shows by
//! the colour of a band how much text has arrived.

/// The band's colour when the text area is empty, and when it holds 50 or 500 characters.
pub(crate) const EMPTY: [u8; 3] = [0x12, 0x34, 0x56];
pub(crate) const FIFTY: [u8; 3] = [0xab, 0x10, 0x20];
pub(crate) const FIVE_HUNDRED: [u8; 3] = [0x10, 0xab, 0x20];

/// The position of the band on the screen.
pub(crate) const BAND: (usize, usize) = (500, 100);

/// The position of the text area, and an empty place.
pub(crate) const FIELD: (i32, i32) = (500, 200);
pub(crate) const NOWHERE: (i32, i32) = (500, 600);

/// Returns the page as HTML.
pub(crate) fn html() -> String {
    let words = [
        "tide", "lantern", "copper", "meadow", "harbour", "violet", "engine", "quiet", "paper",
        "orchard",
    ];
    let mut cards = String::new();
    for card in 0..12 {
        let hue = card * 30;
        let text: Vec<_> = (0..24)
            .map(|n| words[(n * 7 + card * 3) % words.len()])
            .collect();
        let text = text.join(" ");
        cards.push_str(&format!(
            "<article><h2 style='background:linear-gradient(90deg,hsl({hue},60%,80%),hsl({hue},70%,95%))'>Entry {card}</h2><p>{text}</p></article>"
        ));
    }
    format!(
        "<!doctype html><meta charset=utf-8><title>bench</title><style>\
         body{{margin:0;font:14px sans-serif;background:#fff;color:#222}}\
         #band{{position:fixed;z-index:1;top:0;width:100%;height:24px;background:#123456}}\
         textarea{{position:fixed;z-index:1;left:20px;top:60px;width:900px;height:120px}}\
         main{{position:absolute;top:220px;display:grid;grid-template-columns:repeat(4,1fr);gap:10px;padding:20px;height:2000px}}\
         h2{{font-size:15px;padding:6px;border-radius:6px}}p{{line-height:1.4}}\
         </style><div id=band></div><textarea spellcheck=false autocomplete=off></textarea><main>{cards}</main><script>\
         const area=document.querySelector('textarea'),band=document.getElementById('band');\
         let shown='#123456';\
         area.oninput=()=>{{const n=area.value.length;\
         const wanted=n===50?'#ab1020':n===500?'#10ab20':'#123456';\
         if(wanted!==shown)band.style.background=shown=wanted}}</script>"
    )
}

/// Returns the text to type.
pub(crate) fn text(n_characters: usize) -> String {
    "The quick brown fox, 42 times; jumps (over) Lazy dogs! "
        .chars()
        .cycle()
        .take(n_characters)
        .collect()
}
