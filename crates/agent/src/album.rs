//! The pictures of a turn: all are stored as blobs, and those for the model are held in memory.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use deskhand_core::{
    blob::{BlobError, BlobName, Blobs},
    event::{EventBody, Screenshot},
    id::TurnId,
    model::Image,
    sandbox::Frame,
};

/// The pictures that the model is shown, each read at most once.
#[derive(Debug)]
pub(crate) struct Album {
    blobs: Arc<dyn Blobs>,
    images: HashMap<BlobName, Image>,
}

impl Album {
    pub(crate) fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self {
            blobs,
            images: HashMap::new(),
        }
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
        self.images.insert(blob.clone(), Image { bytes, format });
        Ok(EventBody::Screenshot(Screenshot {
            turn: Some(turn),
            call: call.map(str::to_owned),
            blob,
            width: frame.size.width,
            height: frame.size.height,
        }))
    }

    /// Holds these pictures and no others. If a blob is missing, the conversation continues without that picture.
    pub(crate) async fn hold(&mut self, wanted: HashSet<&BlobName>) -> Result<(), BlobError> {
        self.images.retain(|name, _| wanted.contains(name));
        for name in wanted {
            if self.images.contains_key(name) {
                continue;
            }
            match self.blobs.get(name).await {
                Ok(bytes) => {
                    let format = name.format();
                    self.images.insert(name.clone(), Image { bytes, format });
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
