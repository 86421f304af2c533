//! The demo shop over real HTTP.

#![expect(
    clippy::unwrap_used,
    reason = "what a test relies on fails the test when it is not so"
)]

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use deskhand_core::tasks::Tasks;
use deskhand_shop::{ShopError, serve};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinHandle,
};

/// An open shop with its own order book.
struct Shop {
    address: SocketAddr,
    orders: PathBuf,
    folder: TempDir,
    task: JoinHandle<Result<(), ShopError>>,
}

impl Shop {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let orders = folder.path().join("shop/orders.jsonl");
        Self::open_with(folder, orders).await
    }

    async fn open_with(folder: TempDir, orders: PathBuf) -> Self {
        // Nobody else gets the port while a socket is bound to it. The shop does, because this one does not listen.
        let place = TcpSocket::new_v4().unwrap();
        place.set_reuseaddr(true).unwrap();
        place.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = place.local_addr().unwrap();
        let task = Tasks::default().spawn("shop", serve(address, orders.clone()));
        let connect = async {
            while TcpStream::connect(address).await.is_err() {
                assert!(!task.is_finished(), "the shop did not open");
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), connect)
            .await
            .unwrap();
        Self {
            address,
            orders,
            folder,
            task,
        }
    }

    async fn close(self) -> (TempDir, PathBuf) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
        (self.folder, self.orders)
    }

    async fn get(&self, path: &str) -> String {
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n"
        ))
        .await
    }

    async fn order(&self, form: &str) -> String {
        let length = form.len();
        self.send(&format!(
            "POST /order HTTP/1.1\r\nhost: shop\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{form}"
        ))
        .await
    }

    async fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

#[tokio::test]
async fn an_order_is_written_down_and_confirmed() {
    let shop = Shop::open().await;
    let page = shop.get("/").await;
    assert!(
        page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("Place the order"),
        "{page}"
    );

    let form =
        "item=green-tea&quantity=3&name=Ada+%3CL%3E&email=ada%40example.com&note=two%0D%0Alines";
    let answer = shop.order(form).await;
    assert!(answer.starts_with("HTTP/1.1 303 See Other\r\n"), "{answer}");
    assert!(answer.contains("location: /orders/1001\r\n"), "{answer}");
    assert_eq!(
        std::fs::read_to_string(&shop.orders).unwrap(),
        "{\"number\":1001,\"item\":\"Green tea\",\"quantity\":3,\"total\":36,\"name\":\"Ada <L>\",\
         \"email\":\"ada@example.com\",\"note\":\"two\\nlines\"}\n"
    );
    let page = shop.get("/orders/1001").await;
    assert!(
        page.contains("Thank you, Ada &lt;L&gt;! Order 1001 is on its way."),
        "{page}"
    );
    assert!(page.contains("3 × Green tea"));

    // Numbering continues after a restart.
    let (folder, orders) = shop.close().await;
    let shop = Shop::open_with(folder, orders).await;
    assert!(
        shop.order(form)
            .await
            .contains("location: /orders/1002\r\n")
    );
    assert!(shop.get("/orders/1001").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn mistakes_are_shown_at_their_field() {
    let shop = Shop::open().await;
    let answer = shop
        .order("item=chamomile&quantity=many&name=&email=nobody&note=hi")
        .await;
    assert!(answer.starts_with("HTTP/1.1 422 "), "{answer}");
    for part in [
        "Quantity<em>A number from 1 to 99</em>",
        "Name<em>Please tell us your name</em>",
        "E-mail<em>Not an e-mail address</em>",
        "value=\"many\" class=\"wrong\"",
        "value=\"chamomile\" checked",
        "Note<em></em>",
    ] {
        assert!(answer.contains(part), "{part} is not in {answer}");
    }
    assert!(!shop.orders.exists());
}

#[tokio::test]
async fn other_pages_are_not_there() {
    let shop = Shop::open().await;
    for path in ["/nothing", "/orders/1001", "/orders/x"] {
        assert!(shop.get(path).await.starts_with("HTTP/1.1 404 "), "{path}");
    }
    let answer = shop.order(&"x".repeat(70_000)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_second_shop_at_the_same_place_says_why_it_does_not_open() {
    let open = Shop::open().await;
    let error = serve(open.address, open.orders.clone()).await.unwrap_err();
    assert!(matches!(error, ShopError::Listen { .. }), "{error}");
}
