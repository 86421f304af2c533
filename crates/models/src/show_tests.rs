use deskhand_core::{blob::BlobName, id::AttachmentId};

use super::*;
use crate::{anthropic, chat, gemini, openai};

fn picture(width: u16, height: u16) -> Picture {
    let n_pixels = usize::from(width) * usize::from(height);
    Picture {
        size: ScreenSize { width, height },
        bgrx: [10, 20, 200, 0].repeat(n_pixels),
    }
}

fn file(media_type: &str, bytes: &[u8]) -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: "a".to_owned(),
        media_type: media_type.to_owned(),
        n_bytes: u64::try_from(bytes.len()).unwrap(),
        blob: BlobName::of_file([1; 32]),
    }
}

fn shown(view: View, media_type: &str, bytes: Vec<u8>) -> Result<ShownFile, NotShown> {
    show(view, &file(media_type, &bytes), bytes.into())
}

fn size(file: &ShownFile) -> (u16, u16) {
    let size = DecodedPicture::decode(&file.bytes).unwrap().picture.size;
    (size.width, size.height)
}

#[test]
fn a_picture_that_fits_is_sent_unchanged() {
    let png = picture(40, 30).encode(BlobFormat::Png).unwrap();
    let file = shown(gemini::view(), "image/png", png.clone()).unwrap();
    assert_eq!((&*file.bytes, file.media_type), (&*png, "image/png"));
}

#[test]
fn a_large_picture_gets_the_size_that_the_model_sees() {
    let photo = picture(2400, 1800).encode(BlobFormat::Jpeg).unwrap();
    for (view, longest) in [
        (anthropic::view("claude-sonnet-4-5"), 1568),
        (anthropic::view("claude-opus-5"), 2000),
        (openai::view("gpt-5.4"), 2000),
        (gemini::view(), 2000),
        (chat::view(chat::PointUnit::Pixels), 2000),
    ] {
        let file = shown(view, "image/jpeg", photo.clone()).unwrap();
        let (width, height) = size(&file);
        assert!(
            width <= longest && width > 600 && height < width,
            "{width} x {height}"
        );
        assert_eq!(file.media_type, "image/jpeg");
        assert_eq!(
            file.n_tokens,
            u64::from(width) * u64::from(height) / PIXELS_PER_TOKEN + 1
        );
        let same = ScreenSize { width, height };
        assert_eq!((view.shown)(same), same, "the vendor would scale it again");
    }
}

#[test]
fn a_gif_is_converted_for_vendors_that_do_not_accept_it() {
    let gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";
    let taken = shown(anthropic::view("claude-opus-5"), "image/gif", gif.to_vec()).unwrap();
    assert_eq!((&*taken.bytes, taken.media_type), (&gif[..], "image/gif"));
    let converted = shown(gemini::view(), "image/gif", gif.to_vec()).unwrap();
    assert_eq!(
        (converted.media_type, size(&converted)),
        ("image/png", (1, 1))
    );
}

#[test]
fn damaged_pictures_and_other_files_are_not_shown() {
    let broken = b"\x89PNG\r\n\x1a\nrest".to_vec();
    assert_eq!(
        shown(gemini::view(), "image/png", broken),
        Err(NotShown::Damaged)
    );
    assert_eq!(
        shown(gemini::view(), "text/csv", b"a,b".to_vec()),
        Err(NotShown::Kind)
    );
}

#[test]
fn a_pdf_is_sent_to_models_that_accept_it() {
    let pdf = b"%PDF-1.7 << /Type /Pages >> << /Type /Page >> <</Type/Page/Parent>>".to_vec();
    let view = anthropic::view("claude-opus-5");
    let file = shown(view, "application/pdf", pdf.clone()).unwrap();
    assert_eq!((file.n_tokens, &*file.bytes), (2 * TOKENS_PER_PAGE, &*pdf));
    assert_eq!(
        shown(
            chat::view(chat::PointUnit::Pixels),
            "application/pdf",
            pdf.clone()
        ),
        Err(NotShown::Kind)
    );
    let locked = [&pdf[..], b" trailer << /Encrypt 5 0 R >>"].concat();
    assert_eq!(
        shown(view, "application/pdf", locked),
        Err(NotShown::Locked)
    );
    let long = [&b"%PDF-1.7"[..], &b"<</Type /Page>>".repeat(101)].concat();
    assert_eq!(shown(view, "application/pdf", long), Err(NotShown::Large));
    let large = vec![b' '; 10_000_001];
    assert_eq!(shown(view, "application/pdf", large), Err(NotShown::Large));
}
