//! Models that are reached over a vendor's wire.

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
    talk::{self, Begun},
    view::View,
};

/// A vendor's way of speaking, with an account there.
pub(crate) trait Wire: Send + Sync + Debug + 'static {
    type Answer: talk::Answer;

    /// The part before the slash in the names of its models.
    fn vendor(&self) -> &str;

    /// What must not be in any message.
    fn secrets(&self) -> Vec<Secret>;

    /// Sends a request.
    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<Self::Answer>>;

    /// How a model looks at a screen.
    fn view(&self, name: &str) -> View;
}

/// What a model is asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The part after the slash in the model's name.
    pub(crate) name: String,
    pub(crate) request: Arc<ModelRequest>,
    /// What the model said before it paused.
    pub(crate) said: Vec<Value>,
}

/// An account with a vendor, whichever it is.
pub(crate) trait Account: Send + Sync + Debug {
    fn model(self: Arc<Self>, name: &str) -> Arc<dyn Model>;
}

impl<W: Wire> Account for W {
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
