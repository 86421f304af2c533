//! A snapshot of a page, and the nodes in it that show secrets.

use std::collections::HashSet;

use deskhand_core::secret::Secret;
use serde::Deserialize;

const ELEMENT: i64 = 1;
const TEXT: i64 = 3;

/// A node that shows a secret.
pub(super) struct Found {
    pub(super) node: i64,
    pub(super) is_element: bool,
}

/// The reply to `DOMSnapshot.captureSnapshot`.
#[derive(Deserialize)]
pub(super) struct Snapshot {
    documents: Vec<Document>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    nodes: Nodes,
    layout: Layout,
}

/// Lists with one element per node. Texts are indices into the snapshot's strings, or -1.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nodes {
    node_type: Vec<i64>,
    node_value: Vec<i64>,
    backend_node_id: Vec<i64>,
    text_value: Rare,
    input_value: Rare,
}

/// A list with elements for a few nodes only.
#[derive(Deserialize)]
struct Rare {
    index: Vec<usize>,
    value: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    node_index: Vec<usize>,
    text: Vec<i64>,
}

impl Snapshot {
    /// Returns the nodes that show one of these values.
    pub(super) fn find(&self, values: &[Secret]) -> Vec<Found> {
        let tells = |text: &str| values.iter().any(|value| text.contains(value.expose()));
        let telling: HashSet<i64> = (0..)
            .zip(&self.strings)
            .filter(|(_, text)| tells(text))
            .map(|(index, _)| index)
            .collect();
        if telling.is_empty() {
            return Vec::new();
        }
        self.documents
            .iter()
            .flat_map(|document| document.find(&telling))
            .collect()
    }
}

impl Document {
    fn find(&self, telling: &HashSet<i64>) -> Vec<Found> {
        let Self { nodes, layout } = self;
        let mut found = HashSet::new();
        // The content of fields, then text nodes, then text as it is laid out.
        for rare in [&nodes.text_value, &nodes.input_value] {
            let entries = rare.index.iter().zip(&rare.value);
            found.extend(
                entries
                    .filter(|(_, text)| telling.contains(text))
                    .map(|(node, _)| *node),
            );
        }
        let texts = nodes.node_type.iter().zip(&nodes.node_value).enumerate();
        let tells = |kind: &i64, text: &i64| *kind == TEXT && telling.contains(text);
        found.extend(
            texts
                .filter(|(_, (kind, text))| tells(kind, text))
                .map(|(node, _)| node),
        );
        let shown = layout.node_index.iter().zip(&layout.text);
        found.extend(
            shown
                .filter(|(_, text)| telling.contains(text))
                .map(|(node, _)| *node),
        );
        // A node without a place in the layout, such as a script, is not visible.
        let laid_out: HashSet<_> = layout.node_index.iter().collect();
        found.retain(|node| laid_out.contains(node));
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable();
        let about = |node: usize| {
            Some(Found {
                node: *nodes.backend_node_id.get(node)?,
                is_element: *nodes.node_type.get(node)? == ELEMENT,
            })
        };
        found.into_iter().filter_map(about).collect()
    }
}
