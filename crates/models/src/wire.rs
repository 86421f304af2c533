//! Models that are reached through a vendor's API.

use std::{fmt::Debug, sync::Arc};

use deskhand_core::{
    action::{Point, ScreenSize},
    model::{Chunk, Model, ModelError, ModelRequest, Pictures, Price},
    secret::Secret,
};
use futures::{StreamExt, future::BoxFuture, stream::BoxStream};
use serde_json::Value;

use crate::{
    known, redact,
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
    fn model(self: Arc<Self>, name: &str) -> Arc<dyn Model>;
}

impl<W: Wire> VendorAccount for W {
    fn model(self: Arc<Self>, name: &str) -> Arc<dyn Model> {
        Arc::new(WireModel {
            wire: self,
            name: name.to_owned(),
        })
    }
}

#[derive(Debug)]
struct WireModel<W> {
    wire: Arc<W>,
    name: String,
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

    fn price(&self) -> Option<Price> {
        known::price(self.wire.vendor(), &self.name)
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
