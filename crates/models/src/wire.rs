//! Models that are reached through a vendor's API.

use std::{fmt::Debug, sync::Arc};

use bytes::Bytes;
use deskhand_core::{
    action::{Point, ScreenSize},
    attachment::Attachment,
    model::{
        Chunk, ContextWindow, Model, ModelError, ModelRequest, NotShown, PictureForm, Pictures,
        Price, ShownFile,
    },
    secret::Secret,
};
use futures::{StreamExt, future::BoxFuture, stream::BoxStream};
use serde_json::Value;

use crate::{
    redact, show,
    talk::{self, Begun, StreamedAnswer},
    view::View,
};

/// A vendor's API, with an account there.
pub(crate) trait Wire: Send + Sync + Debug + 'static {
    type Answer: StreamedAnswer;

    /// Returns the part before the slash in the names of its models.
    fn vendor(&self) -> &str;

    /// Returns the secrets that must not appear in any message.
    fn secrets(&self) -> Vec<Secret>;

    /// Sends a request.
    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<Self::Answer>>;

    /// Returns the view that a model has of a screen.
    fn view(&self, name: &str) -> View;

    /// Returns true if its models cost nothing, because they run on a machine of one's own.
    fn is_self_hosted(&self) -> bool {
        false
    }
}

/// A request to a model.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The part after the slash in the model's name.
    pub(crate) name: String,
    pub(crate) request: Arc<ModelRequest>,
    /// Content from before the model paused.
    pub(crate) said: Vec<Value>,
}

/// An account with any vendor.
pub(crate) trait VendorAccount: Send + Sync + Debug {
    /// Returns a model and the price that is known for it.
    fn model(self: Arc<Self>, name: &str, price: Option<Price>) -> Arc<dyn Model>;
}

impl<W: Wire> VendorAccount for W {
    fn model(self: Arc<Self>, name: &str, price: Option<Price>) -> Arc<dyn Model> {
        Arc::new(WireModel {
            wire: self,
            name: name.to_owned(),
            price,
        })
    }
}

#[derive(Debug)]
struct WireModel<W> {
    wire: Arc<W>,
    name: String,
    price: Option<Price>,
}

impl<W: Wire> Model for WireModel<W> {
    fn shown(&self, screen: ScreenSize) -> ScreenSize {
        (self.wire.view(&self.name).shown)(screen)
    }

    fn place(&self, at: Point, screen: ScreenSize) -> Point {
        self.wire.view(&self.name).space(screen).shown(at)
    }

    fn pictures(&self) -> Pictures {
        self.wire.view(&self.name).pictures
    }

    fn picture_form(&self) -> PictureForm {
        PictureForm::Compact {
            webp: self.wire.view(&self.name).files.webp,
        }
    }

    fn window(&self) -> ContextWindow {
        self.wire.view(&self.name).window
    }

    fn show(&self, file: &Attachment, bytes: Bytes) -> Result<ShownFile, NotShown> {
        show::show(self.wire.view(&self.name), file, bytes)
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn has_unknown_price(&self) -> bool {
        self.price.is_none() && !self.wire.is_self_hosted()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let model = format!("{}/{}", self.wire.vendor(), self.name);
        let secrets = self.wire.secrets();
        let (wire, name) = (Arc::clone(&self.wire), self.name.clone());
        let request = Arc::new(request);
        let chunks = talk::chunks(move |said| {
            let asked = Asked {
                name: name.clone(),
                request: Arc::clone(&request),
                said,
            };
            Arc::clone(&wire).begin(asked)
        });
        chunks
            .map(move |chunk| chunk.map_err(|error| redact::error(error, &model, &secrets)))
            .boxed()
    }
}
