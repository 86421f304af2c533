//! The names of elements that have consequences, in several languages.

use super::Consequence::{self, AcceptTerms, Buy, Delete, Pay, Publish, Send};

/// A name in lower case, as words and as text without spaces.
#[derive(Debug)]
pub(super) struct Phrase {
    words: Vec<String>,
    joined: String,
}

/// The beginning of a name, and the consequence that it shows. The words that may follow are few: a headline has more.
type Beginnings = &'static [&'static str];

const ENGLISH: [(Consequence, Beginnings); 6] = [
    (
        Buy,
        &[
            "buy",
            "purchase",
            "order now",
            "place order",
            "place your order",
            "place my order",
            "complete order",
            "complete purchase",
            "complete your order",
            "complete booking",
            "confirm order",
            "confirm purchase",
            "confirm booking",
            "confirm reservation",
            "confirm and book",
            "book now",
            "book and pay",
            "reserve now",
            "order and pay",
            "submit order",
            "place bid",
            "bid now",
            "upgrade now",
            "start free trial",
            "start trial",
            "subscribe",
            "renew now",
            "checkout now",
        ],
    ),
    (
        Pay,
        &[
            "pay",
            "confirm and pay",
            "confirm payment",
            "make payment",
            "submit payment",
            "send payment",
            "send money",
            "donate",
            "transfer",
            "confirm transfer",
            "withdraw",
            "place trade",
            "sell now",
        ],
    ),
    (
        Send,
        &[
            "send",
            "submit application",
            "submit request",
            "submit form",
            "submit report",
            "confirm and send",
            "sign and send",
            "apply now",
            "file report",
            "request refund",
        ],
    ),
    (
        Publish,
        &[
            "publish",
            "post",
            "tweet",
            "share now",
            "go live",
            "merge pull request",
            "confirm merge",
            "deploy",
            "create pull request",
            "submit new issue",
            "create issue",
            "release now",
            "make public",
        ],
    ),
    (
        Delete,
        &[
            "delete",
            "erase",
            "destroy",
            "wipe",
            "empty trash",
            "empty bin",
            "close account",
            "close my account",
            "deactivate",
            "deactivate account",
            "remove account",
            "remove permanently",
            "permanently delete",
            "yes delete",
            "cancel subscription",
            "cancel order",
            "cancel booking",
            "cancel membership",
            "terminate",
            "revoke",
            "factory reset",
            "i understand delete",
        ],
    ),
    (
        AcceptTerms,
        &[
            "accept and continue",
            "agree and continue",
            "accept terms",
            "accept the terms",
            "agree to terms",
            "i agree to",
            "i accept the",
            "agree to the terms",
            "accept and create",
            "agree and join",
            "agree join",
            "accept continue",
            "agree continue",
            "sign agreement",
            "sign contract",
        ],
    ),
];

const OTHERS: [(Consequence, Beginnings); 18] = [
    // German
    (
        Buy,
        &[
            "kaufen",
            "jetzt kaufen",
            "zahlungspflichtig",
            "kostenpflichtig",
            "jetzt bestellen",
            "bestellung aufgeben",
            "bestellung abschicken",
            "verbindlich",
            "buchung bestätigen",
            "jetzt buchen",
            "abonnieren",
            "kauf bestätigen",
        ],
    ),
    (
        Pay,
        &[
            "bezahlen",
            "jetzt bezahlen",
            "zahlen",
            "jetzt zahlen",
            "überweisen",
            "spenden",
            "überweisung ausführen",
        ],
    ),
    (
        Send,
        &[
            "senden",
            "absenden",
            "abschicken",
            "nachricht senden",
            "verschicken",
        ],
    ),
    (Publish, &["veröffentlichen", "posten", "jetzt teilen"]),
    (
        Delete,
        &[
            "löschen",
            "konto löschen",
            "endgültig löschen",
            "kündigen",
            "konto schließen",
        ],
    ),
    (
        AcceptTerms,
        &[
            "akzeptieren und weiter",
            "zustimmen und weiter",
            "agb akzeptieren",
            "bedingungen akzeptieren",
        ],
    ),
    // French
    (
        Buy,
        &[
            "acheter",
            "commander",
            "passer la commande",
            "confirmer la commande",
            "confirmer l achat",
            "réserver",
            "valider la commande",
            "s abonner",
            "confirmer la réservation",
        ],
    ),
    (
        Pay,
        &[
            "payer",
            "procéder au paiement",
            "faire un don",
            "virer",
            "effectuer le virement",
            "valider le paiement",
        ],
    ),
    (Send, &["envoyer"]),
    (Publish, &["publier", "mettre en ligne"]),
    (Delete, &["supprimer", "effacer", "résilier"]),
    (
        AcceptTerms,
        &[
            "accepter et continuer",
            "accepter les conditions",
            "j accepte les",
        ],
    ),
    // Spanish
    (
        Buy,
        &[
            "comprar",
            "realizar pedido",
            "confirmar compra",
            "confirmar pedido",
            "hacer pedido",
            "reservar",
            "confirmar reserva",
            "suscribirse",
            "tramitar pedido",
            "finalizar compra",
        ],
    ),
    (Pay, &["pagar", "transferir", "donar", "realizar pago"]),
    (Send, &["enviar"]),
    (Publish, &["publicar"]),
    (Delete, &["eliminar", "borrar", "cancelar suscripción"]),
    (
        AcceptTerms,
        &["aceptar y continuar", "aceptar los términos", "acepto los"],
    ),
];

/// Parts of names in languages without spaces.
const PARTS: [(Consequence, Beginnings); 12] = [
    // Japanese
    (
        Buy,
        &[
            "購入する",
            "購入を確定",
            "今すぐ買う",
            "今すぐ購入",
            "注文を確定",
            "注文する",
            "予約を確定",
            "予約する",
        ],
    ),
    (Pay, &["支払う", "支払いを確定", "振り込む", "送金"]),
    (Send, &["送信"]),
    (Publish, &["投稿する", "公開する"]),
    (Delete, &["削除", "退会", "解約"]),
    (AcceptTerms, &["同意して", "同意する"]),
    // Chinese and Korean
    (
        Buy,
        &[
            "立即购买",
            "提交订单",
            "确认订单",
            "立即購買",
            "구매하기",
            "주문하기",
            "바로구매",
        ],
    ),
    (
        Pay,
        &["确认支付", "立即支付", "付款", "转账", "결제하기", "송금"],
    ),
    (Send, &["发送", "發送", "보내기"]),
    (Publish, &["发布", "發佈", "게시하기"]),
    (Delete, &["删除", "刪除", "注销账户", "삭제"]),
    (AcceptTerms, &["同意并", "同意並", "동의하고"]),
];
/// The most characters of a name in such a language. Longer ones are sentences.
const LONGEST_PART_NAME: usize = 16;

/// Whole names that confirm what a dialog asks.
const CONFIRMATIONS: [&str; 21] = [
    "ok",
    "okay",
    "yes",
    "confirm",
    "proceed",
    "i m sure",
    "yes i m sure",
    "yes continue",
    "accept",
    "agree",
    "i agree",
    "i accept",
    "ja",
    "bestätigen",
    "oui",
    "confirmer",
    "sí",
    "confirmar",
    "aceptar",
    "はい",
    "确认",
];
/// Whole names of buttons that send a form to others.
const SUBMITS: [&str; 5] = ["submit", "comment", "reply", "save and send", "soumettre"];
/// Words that a question about an effect contains.
const MENTIONS: [(Consequence, Beginnings); 6] = [
    (
        Delete,
        &[
            "delete",
            "deleted",
            "erase",
            "permanently",
            "löschen",
            "supprimer",
            "eliminar",
            "remove permanently",
        ],
    ),
    (
        Pay,
        &[
            "pay", "payment", "charged", "transfer", "bezahlen", "payer", "pagar",
        ],
    ),
    (
        Buy,
        &[
            "purchase",
            "buy",
            "subscribe",
            "kaufen",
            "acheter",
            "comprar",
        ],
    ),
    (
        Publish,
        &[
            "publish",
            "published",
            "veröffentlichen",
            "publier",
            "publicar",
        ],
    ),
    (Send, &["send", "sent", "senden", "envoyer", "enviar"]),
    (
        AcceptTerms,
        &[
            "terms",
            "agb",
            "nutzungsbedingungen",
            "conditions générales",
            "términos",
        ],
    ),
];
/// Words that take a name back: `Cancel`, `Don't delete`.
const REFUSALS: [&str; 14] = [
    "don t",
    "do not",
    "no",
    "not",
    "keep",
    "back",
    "undo",
    "abbrechen",
    "nicht",
    "annuler",
    "non",
    "volver",
    "キャンセル",
    "しない",
];
/// Words of names that are about something else: cookies, drafts, and boxes for oneself.
const ELSEWHERE: [&str; 8] = [
    "cookie", "cookies", "draft", "guide", "history", "later", "template", "preview",
];
/// Words of buttons that send a form without paying.
const ASIDES: [&str; 16] = [
    "apply",
    "coupon",
    "promo",
    "search",
    "back",
    "edit",
    "cancel",
    "close",
    "change",
    "help",
    "sign",
    "log",
    "remove",
    "zurück",
    "retour",
    "next step",
];
const TERMS: [&str; 12] = [
    "terms",
    "conditions",
    "agreement",
    "policy",
    "agb",
    "nutzungsbedingungen",
    "datenschutzerklärung",
    "cgu",
    "cgv",
    "términos",
    "condiciones",
    "contract",
];
const AGREES: [&str; 12] = [
    "agree",
    "accept",
    "consent",
    "read",
    "akzeptiere",
    "stimme",
    "gelesen",
    "accepte",
    "lu",
    "acepto",
    "confirm",
    "leído",
];

impl Phrase {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric());
        let words: Vec<String> = words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        let joined = words.concat();
        Self { words, joined }
    }

    /// Returns the number of words after this beginning.
    fn after(&self, beginning: &str) -> Option<usize> {
        let n_words = beginning.split(' ').count();
        let is_begun = beginning
            .split(' ')
            .zip(&self.words)
            .filter(|(a, b)| a == b)
            .count()
            == n_words;
        is_begun.then(|| self.words.len() - n_words)
    }

    fn contains(&self, phrase: &str) -> bool {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        self.words
            .windows(wanted.len())
            .any(|part| part.iter().zip(&wanted).all(|(a, b)| a == b))
    }

    fn contains_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.contains(phrase))
    }

    fn is_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.after(phrase) == Some(0))
    }
}

/// Returns the consequence that a name shows, if at most `most_words` follow its first words.
pub(super) fn consequence(name: &Phrase, most_words: usize) -> Option<Consequence> {
    if name.contains_any(&ELSEWHERE) {
        return None;
    }
    let begins = |(consequence, beginnings): &(Consequence, Beginnings)| {
        let mut left = beginnings
            .iter()
            .filter_map(|beginning| name.after(beginning));
        left.any(|n_left| n_left <= most_words)
            .then_some(*consequence)
    };
    let contains = |(consequence, parts): &(Consequence, Beginnings)| {
        let is_short = name.joined.chars().count() <= LONGEST_PART_NAME;
        (is_short && parts.iter().any(|part| name.joined.contains(part))).then_some(*consequence)
    };
    let named = ENGLISH.iter().chain(&OTHERS).find_map(begins);
    named.or_else(|| PARTS.iter().find_map(contains))
}

/// Returns true if a name only confirms what stands around it.
pub(super) fn is_confirmation(name: &Phrase) -> bool {
    name.is_any(&CONFIRMATIONS)
}

/// Returns true if a button that sends its form shows it to others.
pub(super) fn is_submission(name: &Phrase) -> bool {
    name.is_any(&SUBMITS)
}

/// Returns the consequence that a text speaks of.
pub(super) fn mentioned(text: &Phrase) -> Option<Consequence> {
    let found = MENTIONS.iter().find(|(_, words)| text.contains_any(words));
    found
        .filter(|_| !text.contains_any(&["cookie", "cookies"]))
        .map(|(consequence, _)| *consequence)
}

/// Returns true if a name takes an effect back.
pub(super) fn is_refusal(name: &Phrase) -> bool {
    let has_none = REFUSALS.iter().any(|word| match word.is_ascii() {
        true => name.after(word).is_some() || name.words.last().is_some_and(|last| last == word),
        false => name.joined.contains(word),
    });
    has_none || name.contains("don t") || name.is_any(&["cancel", "close", "dismiss"])
}

/// Returns true if a button with this name does something beside what its form is for.
pub(super) fn is_aside(name: &Phrase) -> bool {
    name.contains_any(&ASIDES)
}

/// Returns true if ticking a box with this name accepts terms.
pub(super) fn says_terms(name: &Phrase) -> bool {
    name.contains_any(&TERMS) && name.contains_any(&AGREES)
}
