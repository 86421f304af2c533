//! Lines in many scripts, made from a seed.

use std::ops::RangeInclusive;

use rand::{
    Rng, SeedableRng,
    rngs::StdRng,
    seq::{IndexedRandom, SliceRandom},
};

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

/// The letters of Japanese and Korean.
const SYLLABLES: [RangeInclusive<char>; 3] = [
    '\u{3041}'..='\u{3096}',
    '\u{30a1}'..='\u{30fa}',
    '가'..='힣',
];
/// Ideographs of 16 bits and of more.
const IDEOGRAPHS: [RangeInclusive<char>; 2] = ['一'..='龥', '\u{20000}'..='\u{2a6d6}'];

/// The number of kinds of lines.
const KINDS: usize = 9;

/// Makes lines of every kind in turn. Ninety of them contain every word of every script.
pub(super) fn lines(n_lines: usize, random: &mut StdRng) -> Vec<String> {
    let mut writer = Writer::new(random);
    (0..n_lines)
        .map(|n| writer.line(n % KINDS) + "\n")
        .collect()
}

/// Deals words like cards: each comes once before any comes again.
struct Deck {
    words: Words,
    left: Vec<&'static str>,
}

impl Deck {
    fn new(words: Words) -> Self {
        let left = Vec::new();
        Self { words, left }
    }

    fn deal(&mut self, random: &mut StdRng) -> &'static str {
        if self.left.is_empty() {
            self.left = self.words.to_vec();
            self.left.shuffle(random);
        }
        self.left.pop().unwrap()
    }
}

struct Writer<'a> {
    scripts: [Deck; 5],
    code: Deck,
    random: &'a mut StdRng,
}

impl<'a> Writer<'a> {
    fn new(random: &'a mut StdRng) -> Self {
        Self {
            scripts: [LATIN, GREEK, CYRILLIC, ARABIC, EMOJI].map(Deck::new),
            code: Deck::new(CODE),
            random,
        }
    }

    fn line(&mut self, kind: usize) -> String {
        match kind {
            script @ 0..5 => self.words(script),
            5 => self.code.deal(self.random).to_owned(),
            6 => self.characters(&SYLLABLES),
            // Hardly any ideograph comes twice.
            7 => self.characters(&IDEOGRAPHS),
            _ => {
                let scripts = self.scripts.iter_mut();
                let words: Vec<&str> = scripts.map(|deck| deck.deal(self.random)).collect();
                words.join("\t")
            }
        }
    }

    fn words(&mut self, script: usize) -> String {
        let n_words = self.random.random_range(3..9);
        let words: Vec<&str> = (0..n_words)
            .map(|_| self.scripts[script].deal(self.random))
            .collect();
        words.join(" ")
    }

    fn characters(&mut self, of: &[RangeInclusive<char>]) -> String {
        let n_characters = self.random.random_range(10..40);
        (0..n_characters)
            .map(|_| {
                let range = of.choose(self.random).unwrap();
                self.random.random_range(range.clone())
            })
            .collect()
    }
}

#[test]
fn the_usual_lines_contain_every_word_and_every_range_of_characters() {
    for seed in 0..200 {
        let n_lines = usize::try_from(super::USUAL_LINES).unwrap();
        let text = lines(n_lines, &mut StdRng::seed_from_u64(seed)).concat();
        for word in [LATIN, GREEK, CYRILLIC, ARABIC, EMOJI, CODE].concat() {
            assert!(text.contains(word), "{word:?} with seed {seed}");
        }
        for range in SYLLABLES.iter().chain(&IDEOGRAPHS) {
            let has_some = text.chars().any(|character| range.contains(&character));
            assert!(has_some, "{range:?} with seed {seed}");
        }
    }
}
