//! Lines in many scripts, made from a seed.

use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

/// Words of a script. Some have marks of their own that combine with the letter before.
type Words = &'static [&'static str];

const LATIN: Words = &[
    "zwölf",
    "Straße",
    "œuvre",
    "ñandú",
    "Łódź",
    "čeština",
    "ğüşı",
    "Ångström",
    "ẞ",
    "naïve",
    "Ελλάς?",
    "e\u{301}te\u{301}",
    "Việt",
    "Þór",
    "“quoted”",
    "—",
    "½€",
    "plain",
    "Words",
    "42!",
];
const GREEK: Words = &[
    "Ξεσκεπάζω",
    "την",
    "ψυχοφθόρα",
    "βδελυγμία",
    "ΑΒΓΔ",
    "ἀρχή",
    "Ὅμηρος",
    "ϊΰ",
];
const CYRILLIC: Words = &[
    "Съешь",
    "ещё",
    "этих",
    "мягких",
    "булок",
    "ЁЖЩ",
    "їжак",
    "ґанок",
    "Љубав",
    "ђак",
];
const ARABIC: Words = &[
    "نص",
    "حكيم",
    "له",
    "سر",
    "قاطع",
    "وذو",
    "شأنٍ",
    "عظيمٌ",
    "مكتوب",
    "٤٢",
    "پارسی",
    "ﷲ",
];
const EMOJI: Words = &[
    "😀",
    "👩‍💻",
    "🏳️‍🌈",
    "👍🏽",
    "🇩🇰",
    "❤️",
    "𝔘𝔫𝔦",
    "🫠",
    "1️⃣",
    "text",
    "🎉🎉",
];
const CODE: Words = &[
    "\tif (a < b && c > d) {",
    "\t\treturn `${x}` ~ y ^ z;",
    "for\t(int i = 0;\ti < n; i++)\t// tab",
    "#include <stdio.h>\t/* \\n \"quoted\" 'c' */",
    "\t\t\t@decorator | grep -E '^[a-z]+$' > /dev/null 2>&1",
    "    let s = &v[..]; // four spaces",
    "}",
];

/// So many lines with their ends, each of one kind, the kinds in turn.
pub(super) fn lines(n_lines: usize, random: &mut StdRng) -> Vec<String> {
    (0..n_lines).map(|n| line(n, random) + "\n").collect()
}

fn line(n: usize, random: &mut StdRng) -> String {
    match n % 9 {
        0 => words(LATIN, random),
        1 => words(GREEK, random),
        2 => words(CYRILLIC, random),
        3 => words(ARABIC, random),
        4 => ideographs(random),
        5 => words(EMOJI, random),
        6 => (*CODE.choose(random).unwrap()).to_owned(),
        7 => characters(
            &[
                '\u{3041}'..='\u{3096}',
                '\u{30a1}'..='\u{30fa}',
                '가'..='힣',
            ],
            random,
        ),
        _ => [LATIN, GREEK, CYRILLIC, ARABIC, EMOJI]
            .map(|script| *script.choose(random).unwrap())
            .join("\t"),
    }
}

fn words(of: Words, random: &mut StdRng) -> String {
    let n_words = random.random_range(3..9);
    let words: Vec<&str> = (0..n_words).map(|_| *of.choose(random).unwrap()).collect();
    words.join(" ")
}

/// Each is as likely as any other, so that hardly one comes twice.
fn ideographs(random: &mut StdRng) -> String {
    characters(
        &['一'..='龥', '\u{20000}'..='\u{2a6d6}', '一'..='龥'],
        random,
    )
}

fn characters(of: &[std::ops::RangeInclusive<char>], random: &mut StdRng) -> String {
    let n_characters = random.random_range(10..40);
    (0..n_characters)
        .map(|_| {
            let range = of.choose(random).unwrap();
            random.random_range(range.clone())
        })
        .collect()
}
