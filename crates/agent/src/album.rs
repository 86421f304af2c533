//! The pictures of a turn and the files that the agent shares, all stored as blobs. The pictures and attached files that
//! the model is shown are also held in memory.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;
use deskhand_core::{
    attachment::Attachment,
    blob::{BlobError, BlobFormat, BlobName, Blobs},
    event::{EventBody, Screenshot},
    file::MOST_SHARED_BYTES,
    id::TurnId,
    model::{Image, NotShown, PictureForm},
    sandbox::Frame,
};
use deskhand_pictures::Thumbnail;

use crate::{context::ShownFiles, turn::ChosenModel};

/// The pictures that the model is shown, each read at most once.
#[derive(Debug)]
pub(crate) struct Album {
    blobs: Arc<dyn Blobs>,
    /// The pictures in the form that this model is shown.
    images: HashMap<BlobName, Image>,
    images_of: PictureForm,
    /// New pictures as they are stored, until they are first shown.
    originals: HashMap<BlobName, Bytes>,
    /// Small versions of the pictures that were compared, or `None` for those that cannot be read.
    thumbnails: HashMap<BlobName, Option<Thumbnail>>,
    files: ShownFiles,
    /// The name of the model that these files are prepared for.
    files_of: String,
    /// The size of all files that the agent has shared in this session.
    n_shared_bytes: u64,
}

/// Reasons why a shared file was not stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepFileError {
    #[error(
        "The files shared in this session have {n_bytes} bytes, and the limit is {MOST_SHARED_BYTES} bytes in all, so \
         this one was not shared. Tell people where it is on the computer: they can download it there."
    )]
    Full { n_bytes: u64 },
    #[error("The file could not be stored: {0}.")]
    Blob(#[from] BlobError),
}

impl Album {
    /// Creates the album of a session with these events so far.
    pub(crate) fn new(blobs: Arc<dyn Blobs>, bodies: &[EventBody]) -> Self {
        let size_of = |body: &EventBody| {
            if let EventBody::Artifact(shared) = body {
                shared.size
            } else {
                0
            }
        };
        Self {
            blobs,
            images: HashMap::new(),
            images_of: PictureForm::default(),
            originals: HashMap::new(),
            thumbnails: HashMap::new(),
            files: ShownFiles::new(),
            files_of: String::new(),
            n_shared_bytes: bodies.iter().map(size_of).fold(0, u64::saturating_add),
        }
    }

    pub(crate) fn files(&self) -> &ShownFiles {
        &self.files
    }

    /// Holds exactly these attached files, prepared for this model. If a blob is missing, the conversation continues without
    /// that file.
    pub(crate) async fn hold_files(
        &mut self,
        model: &ChosenModel,
        wanted: &[&Attachment],
    ) -> Result<(), BlobError> {
        if self.files_of != model.name {
            self.files.clear();
            self.files_of.clone_from(&model.name);
        }
        let is_wanted = |name: &BlobName| wanted.iter().any(|file| file.blob == *name);
        self.files.retain(|name, _| is_wanted(name));
        for file in wanted {
            if self.files.contains_key(&file.blob) {
                continue;
            }
            let bytes = match self.blobs.get(&file.blob).await {
                Ok(bytes) => bytes,
                Err(BlobError::Missing(name)) => {
                    tracing::warn!(blob = name.as_str(), "a file named in the log is missing");
                    continue;
                }
                Err(error @ (BlobError::Full(_) | BlobError::Io(_))) => return Err(error),
            };
            let (model, attachment) = (Arc::clone(&model.model), (*file).clone());
            let shown = tokio::task::spawn_blocking(move || model.show(&attachment, bytes));
            let shown = shown.await.unwrap_or(Err(NotShown::Damaged));
            self.files.insert(file.blob.clone(), shown);
        }
        Ok(())
    }

    pub(crate) fn images(&self) -> &HashMap<BlobName, Image> {
        &self.images
    }

    /// Stores a picture and returns its event. Without a call, the agent looked on its own initiative.
    pub(crate) async fn keep(
        &mut self,
        turn: TurnId,
        call: Option<&str>,
        frame: Frame,
    ) -> Result<EventBody, BlobError> {
        let (bytes, format) = (frame.bytes, frame.format);
        let blob = self.blobs.put(bytes.clone(), format).await?;
        // The form for a model is made when the picture is first shown.
        self.originals.insert(blob.clone(), bytes);
        Ok(EventBody::Screenshot(Screenshot {
            turn: Some(turn),
            call: call.map(str::to_owned),
            blob,
            width: frame.size.width,
            height: frame.size.height,
        }))
    }

    /// Returns true if two pictures look the same, or `None` if they have not been prepared for that.
    pub(crate) fn are_alike(&self, one: &BlobName, other: &BlobName) -> Option<bool> {
        if one == other {
            return Some(true);
        }
        let thumbnails = (self.thumbnails.get(one)?, self.thumbnails.get(other)?);
        Some(matches!(thumbnails, (Some(one), Some(other)) if one.is_like(other)))
    }

    /// Prepares pictures to be compared. One that cannot be read is like no other.
    pub(crate) async fn prepare_to_compare(
        &mut self,
        names: Vec<BlobName>,
    ) -> Result<(), BlobError> {
        for name in names {
            if self.thumbnails.contains_key(&name) {
                continue;
            }
            let original = match self.originals.get(&name) {
                Some(bytes) => Ok(bytes.clone()),
                None => self.blobs.get(&name).await,
            };
            let thumbnail = match original {
                Ok(bytes) => {
                    let small = tokio::task::spawn_blocking(move || Thumbnail::of(&bytes));
                    small.await.unwrap_or_default()
                }
                Err(BlobError::Missing(_)) => None,
                Err(error @ (BlobError::Full(_) | BlobError::Io(_))) => return Err(error),
            };
            self.thumbnails.insert(name, thumbnail);
        }
        Ok(())
    }

    /// Stores a file that the agent shares. The model is not shown it.
    pub(crate) async fn keep_file(&mut self, bytes: Bytes) -> Result<BlobName, KeepFileError> {
        let n_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let n_shared_bytes = self.n_shared_bytes.saturating_add(n_bytes);
        if n_shared_bytes > MOST_SHARED_BYTES {
            let n_bytes = self.n_shared_bytes;
            return Err(KeepFileError::Full { n_bytes });
        }
        let kept = self.blobs.put_file(bytes).await?;
        self.n_shared_bytes = n_shared_bytes;
        Ok(kept)
    }

    /// Holds these pictures and no others, in this form. If a blob is missing, the conversation continues without that
    /// picture.
    pub(crate) async fn hold(
        &mut self,
        form: PictureForm,
        wanted: HashSet<&BlobName>,
    ) -> Result<(), BlobError> {
        if self.images_of != form {
            self.images.clear();
            self.images_of = form;
        }
        self.images.retain(|name, _| wanted.contains(name));
        self.originals.retain(|name, _| wanted.contains(name));
        for name in wanted {
            if self.images.contains_key(name) {
                continue;
            }
            let original = match self.originals.remove(name) {
                Some(bytes) => Ok(bytes),
                None => self.blobs.get(name).await,
            };
            match original {
                Ok(bytes) => {
                    let image = shown(bytes, name.format(), form).await;
                    self.images.insert(name.clone(), image);
                }
                Err(BlobError::Missing(name)) => {
                    tracing::warn!(
                        blob = name.as_str(),
                        "a picture named in the log is missing"
                    );
                }
                Err(error @ (BlobError::Full(_) | BlobError::Io(_))) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Returns a picture in the form that a model is shown. The same picture always becomes the same bytes, so that vendors
/// find it in their caches.
async fn shown(bytes: Bytes, format: BlobFormat, form: PictureForm) -> Image {
    if let PictureForm::Compact { webp } = form
        && format == BlobFormat::Png
    {
        let png = bytes.clone();
        let small = tokio::task::spawn_blocking(move || deskhand_pictures::compact(&png, webp));
        // A picture that cannot be made smaller is shown as it is.
        if let Ok(Some((bytes, format))) = small.await {
            let bytes = Bytes::from(bytes);
            return Image { bytes, format };
        }
    }
    let format = format.into();
    Image { bytes, format }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use async_trait::async_trait;
    use deskhand_core::event::Artifact;

    use super::*;

    /// Keeps files and nothing else.
    #[derive(Debug)]
    struct FileBlobs;

    #[async_trait]
    impl Blobs for FileBlobs {
        async fn put(&self, _: Bytes, _: BlobFormat) -> Result<BlobName, BlobError> {
            unreachable!("a file is no picture")
        }

        async fn put_file(&self, _: Bytes) -> Result<BlobName, BlobError> {
            Ok(BlobName::of_file([0; 32]))
        }

        async fn get(&self, _: &BlobName) -> Result<Bytes, BlobError> {
            unreachable!("nothing is read")
        }

        async fn remove(&self, _: &BlobName, _: Duration) -> Result<bool, BlobError> {
            unreachable!("nothing is removed")
        }

        async fn check(&self) -> Result<(), BlobError> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn the_shared_files_of_a_session_have_a_size_limit() {
        let shared = EventBody::Artifact(Artifact {
            turn: TurnId::new(),
            name: "large.bin".to_owned(),
            size: MOST_SHARED_BYTES - 3,
            media_type: "application/octet-stream".to_owned(),
            blob: BlobName::of_file([0; 32]),
        });
        let mut album = Album::new(Arc::new(FileBlobs), &[shared]);
        album.keep_file(Bytes::from_static(b"12")).await.unwrap();
        let full = album.keep_file(Bytes::from_static(b"12")).await;
        let full = full.unwrap_err().to_string();
        assert!(full.contains("was not shared"), "{full}");
        album.keep_file(Bytes::from_static(b"1")).await.unwrap();
    }
}
