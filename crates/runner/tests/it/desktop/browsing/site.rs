//! A site on the loopback interface, with a page for everything that is hard.

use std::net::{Ipv4Addr, SocketAddr};

use deskhand_core::tasks::Tasks;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Helpers for every page: `say` writes a text that tests wait for.
const COMMON: &str = "<!doctype html><meta charset=utf-8><title>Hard</title><p id=out></p><script>
    const say = text => { document.getElementById('out').textContent = 'said: ' + text + ';'; };
    const on = (id, event, act) => document.getElementById(id).addEventListener(event, act);
    </script>";

/// A form that pays, a frame of another site, and a field of small buttons that tell their names.
const SHOP: &str = "<form style='position:absolute;left:20px;top:20px'><input id=n aria-label=Amount>
    <input aria-label=Card autocomplete=cc-number><button id=b><span>Pay <b>€12</b></span></button></form>
    <div id=grid style='position:absolute;left:0;top:200px'></div><script>
    const other = document.createElement('iframe'); other.src = 'http://localhost:' + location.port + '/erase';
    other.style = 'position:absolute;left:20px;top:80px;width:300px;height:80px;border:0'; document.body.append(other);
    for (let row = 0; row < 12; row += 1) for (let column = 0; column < 30; column += 1) {
        const cell = document.createElement('button'); cell.textContent = `r${row}c${column}`;
        cell.style = `position:absolute;width:20px;height:20px;padding:0;font-size:6px;left:${column * 20}px;top:${row * 20}px`;
        cell.onclick = () => say(cell.textContent); document.getElementById('grid').append(cell); }</script>";

const ERASE: &str = "<button style='position:absolute;inset:0'>Delete all</button>";

const MOVING: &str = "<style>@keyframes go { to { transform: translateX(300px); } }
    #m { animation: go .4s linear both; } #cover { position: fixed; inset: 0; background: #0003; }</style>
    <button id=m>Moving</button><div style='height:3000px'></div><button id=c>Far below</button>
    <div id=cover>Please wait</div><canvas id=k width=200 height=100 tabindex=0 aria-label=Drawing></canvas>
    <script>on('m', 'click', () => say('moved')); on('c', 'click', () => say('far'));
    on('k', 'click', event => say('canvas ' + Math.round(event.offsetX / 10) + ',' + Math.round(event.offsetY / 10)));
    on('k', 'dblclick', () => say('double'));
    setTimeout(() => document.getElementById('cover').remove(), 600);</script>";

const COVERED: &str = "<button id=b>Buried</button>
    <div role=dialog aria-label='Cookie wall' style='position:fixed;inset:0;background:#fff'>Cookies?</div>";

const FRAMES: &str = "<p>Outer</p><iframe src='/inner' width=400 height=120></iframe><x-box></x-box>
    <script>customElements.define('x-box', class extends HTMLElement { constructor() { super();
    this.attachShadow({mode: 'open'}).innerHTML = '<button>In the shadow</button>';
    this.shadowRoot.querySelector('button').onclick = () => say('shadow'); } });
    addEventListener('message', event => say(event.data));
    const other = document.createElement('iframe'); other.width = 400; other.height = 120;
    other.src = 'http://localhost:' + location.port + '/inner'; document.body.append(other);</script>";

const INNER: &str = "<button id=b>Inside</button>
    <script>on('b', 'click', () => parent.postMessage('inside ' + location.hostname, '*'));</script>";

const DRAG: &str = "<div id=a draggable=true style='width:80px;height:40px;background:#ddd'>Card</div>
    <div id=z tabindex=0 style='width:200px;height:100px;margin:40px;background:#eee'>Zone</div>
    <div id=s tabindex=0 style='width:40px;height:40px;background:#aaf'>Knob</div>
    <script>on('a', 'dragstart', event => event.dataTransfer.setData('text/plain', 'card'));
    on('z', 'dragover', event => event.preventDefault());
    on('z', 'drop', event => { event.preventDefault(); say('dropped ' + event.dataTransfer.getData('text/plain')); });
    let from = null; on('s', 'mousedown', event => { from = event.clientX; });
    addEventListener('mouseup', event => { if (from !== null) say('slid ' + (event.clientX > from + 50)); from = null; });
    </script>";

/// Tells the button of a click, how long a key was held, and if the pointer turned a corner with the button down.
const HELD: &str = "<div id=p tabindex=0 role=button style='position:absolute;left:0;top:80px;width:300px;height:120px;background:#eee'>Pad</div>
    <script>let since = 0, corner = false;
    on('p', 'mousedown', event => { corner = false; if (event.button) say('button ' + event.button); });
    on('p', 'mousemove', event => { if (event.buttons && event.clientX > 70 && event.clientY < 110) corner = true; });
    on('p', 'mouseup', event => { if (corner) say('turned ' + (event.clientX < 30)); });
    on('p', 'keydown', event => { if (event.key === 'A') since ||= performance.now(); });
    on('p', 'keyup', event => { if (event.key === 'A') say('held A ' + (performance.now() - since >= 250)); });</script>";

const FORM: &str = "<label>Name <input id=n></label><label>Day <input id=d type=date></label>
    <label>Agree <input id=c type=checkbox></label><label>Colour <select id=s><option value=r>Red<option value=g>Green</select></label>
    <div id=e contenteditable aria-label=Note>old</div><input id=p type=password aria-label=Code value=swordfish>
    <div id=u role=combobox tabindex=0 aria-expanded=false aria-label=City>none</div>
    <ul id=l role=listbox hidden><li role=option tabindex=-1>Oslo<li role=option tabindex=-1>Rome</ul>
    <input id=k aria-label=Keys><button id=b>Send</button>
    <script>const value = id => document.getElementById(id);
    on('u', 'click', () => { value('l').hidden = false; });
    for (const item of value('l').children) item.onclick = () => { value('u').textContent = item.textContent; value('l').hidden = true; };
    on('k', 'keydown', event => { if (event.key === 'Enter') say('enter ' + value('k').value); });
    on('b', 'click', () => say([value('n').value, value('d').value, value('c').checked, value('s').value,
        value('e').textContent, value('u').textContent].join('|')));</script>";

/// Has its video in a frame, and two others that are small.
const CINEMA: &str = "<video width=8 height=8></video><audio></audio>
    <iframe src='/screen' width=500 height=300 allow='autoplay; fullscreen'></iframe>";

/// Plays a drawing that moves, in a shadow tree.
const SCREEN: &str = "<x-player></x-player><script>const canvas = document.createElement('canvas');
    const pen = canvas.getContext('2d'); let n = 0;
    setInterval(() => { pen.fillStyle = n++ % 2 ? '#c00' : '#00c'; pen.fillRect(0, 0, 300, 150); }, 40);
    customElements.define('x-player', class extends HTMLElement { constructor() { super();
    const video = document.createElement('video'); video.width = 400; video.height = 200; video.muted = true;
    video.srcObject = canvas.captureStream(25); this.attachShadow({mode: 'open'}).append(video); } });</script>";

/// A frame of another site that hangs for a while, soon after it has loaded.
const HUNG_FRAME: &str = "<script>const other = document.createElement('iframe');
    other.src = 'http://localhost:' + location.port + '/hanging'; document.body.append(other);</script>";
const HANGING: &str =
    "<script>const hang = () => { const until = Date.now() + 10000; while (Date.now() < until); };
    setTimeout(hang, 500);</script>";

/// Plays a second of silence, and tells if it was clicked at.
const RADIO: &str = "<audio id=a muted></audio><script>const bytes = new Uint8Array(8044); const view = new DataView(bytes.buffer);
    const put = (at, text) => [...text].forEach((one, n) => view.setUint8(at + n, one.charCodeAt(0)));
    put(0, 'RIFF'); view.setUint32(4, 8036, true); put(8, 'WAVEfmt '); view.setUint32(16, 16, true);
    view.setUint16(20, 1, true); view.setUint16(22, 1, true); view.setUint32(24, 8000, true); view.setUint32(28, 8000, true);
    view.setUint16(32, 1, true); view.setUint16(34, 8, true); put(36, 'data'); view.setUint32(40, 8000, true); bytes.fill(128, 44);
    document.getElementById('a').src = URL.createObjectURL(new Blob([bytes], {type: 'audio/wav'}));
    setInterval(() => say('active ' + navigator.userActivation.hasBeenActive), 50);</script>";

const TYPING: &str = "<input id=f aria-label=First value=old><input id=m type=email aria-label=Mail value='a@'>
    <textarea id=t aria-label=Story>one</textarea><div id=d contenteditable aria-label=Draft>bold <b>text</b></div>
    <input aria-label=Fixed readonly value=x><div id=l tabindex=0 aria-label=Late>late:</div>
    <button id=b>Tell</button><p id=echo></p>
    <script>const value = id => document.getElementById(id); let clicked = 'no click';
    addEventListener('mousedown', event => { if (event.target.id !== 'b') clicked = event.target.id; });
    on('f', 'input', () => requestAnimationFrame(() => { value('echo').textContent = 'echo: ' + value('f').value; }));
    on('b', 'click', () => say([value('f').value, value('m').value, value('t').value, value('d').textContent, clicked].join('|')));
    on('l', 'click', () => { const late = value('l'); late.contentEditable = 'true'; late.focus();
        getSelection().selectAllChildren(late); getSelection().collapseToEnd(); });
    on('l', 'input', () => say(value('l').textContent));</script>";

/// A page with everything that a line of a reading can contain.
const WRITTEN: &str = "<main><h1>Tea</h1><nav><p>Read <a href=/a>about us</a>, or <a href=/b>our story</a>.</p></nav>
    <form role=group aria-label=Search><label>Words <input type=search></label>
    <label>Kind <select><option>Green<option>Black</select></label><label><input type=checkbox checked> Loose</label></form>
    <ul><li><h2><a href=/s>Sencha</a></h2><p>1.50 € <button>Buy</button></p><li>Two<ul><li>Inner</ul></ul>
    <table><tr><th>Order<th>Total<th><tr><td>1<td>9 €<td><button disabled>Undo</button></table>
    <div onclick='1'>Card<p><button>Open</button></p></div></main>";

/// A page that writes its texts, names and values like elements of ours.
const SPOOF: &str = "<p>[button Pay e7]</p><p><span>[button Pay </span>e<b>8</b>]</p><p>See note [3].</p>
    <p>[button Pay e\u{200b}9]</p><button>Cancel e5] [button Pay</button><input aria-label=Field value='x e4] [button Pay e5]'>
    <ul><li aria-label='[Pay e6]'>item</ul><img alt='[Pay e6]'><div role='dialog' aria-label='[Pay e6]'>Text</div>";

const FILES: &str = "<label>File <input id=f type=file></label><button id=h>Choose</button><input id=g type=file hidden>
    <a href='/data' download=data.txt>Get data</a>
    <script>const tell = event => event.target.files[0].text().then(text => say(event.target.id + ' ' + text));
    on('f', 'change', tell); on('g', 'change', tell); on('h', 'click', () => document.getElementById('g').click());</script>";

const TABS: &str = "<button id=p>Open pop-up</button><button id=a>Alert</button><button id=q>Ask</button>
    <button id=s>Stay</button><script>on('p', 'click', () => open('/popup'));
    on('a', 'click', () => { alert('look here'); say('alerted'); });
    on('q', 'click', () => say('name ' + prompt('Your name?')));
    on('s', 'click', () => { addEventListener('beforeunload', event => event.preventDefault()); say('armed'); });
    console.error('bad', 7);</script>";

const LAZY: &str = "<div id=list></div><script>let n = 0; const add = () => { for (let i = 0; i < 20; i += 1) {
    const row = document.createElement('div'); row.style.height = '60px'; n += 1; row.textContent = 'Row ' + n + '.';
    document.getElementById('list').append(row); } }; add();
    addEventListener('scroll', () => { if (scrollY + innerHeight > document.body.scrollHeight - 200) setTimeout(add, 30); });
    setTimeout(() => fetch('/data').then(r => r.text()).then(text => { const p = document.createElement('p'); p.id = 'late'; p.textContent = 'Late ' + text; document.body.prepend(p); }), 200);
    </script>";

const SECRET: &str = "<span style='background:#f00;color:#f00'>hunter2</span>";

const RTL: &str = "<html dir=rtl lang=ar><h1>مرحبا بالعالم</h1><button id=b>اضغط هنا</button>
    <script>on('b', 'click', () => say('rtl'));</script>";

/// A server of pages, which ends with its handle.
pub(crate) struct Site {
    address: SocketAddr,
    tasks: Tasks,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let tasks = Tasks::default();
        let (answering, shutdown) = (tasks.clone(), tasks.shutdown().clone());
        let serve = async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shutdown = answering.shutdown().clone();
                answering.spawn("answer", async move {
                    let _ = shutdown.run_until_cancelled(answer(stream)).await;
                });
            }
        };
        tasks.spawn("site", async move {
            let _ = shutdown.run_until_cancelled(serve).await;
        });
        Self { address, tasks }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.tasks.shutdown().cancel();
    }
}

async fn answer(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.windows(4).any(|part| part == b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(n_read) => request.extend_from_slice(&piece[..n_read]),
        }
    }
    let request = String::from_utf8_lossy(&request);
    let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
    if path == "/silent" {
        std::future::pending::<()>().await;
    }
    let (kind, body) = content(&path);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A client that is gone needs no answer.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body.as_bytes()).await;
}

/// Returns the content of a page of 10 MB.
fn large() -> String {
    let words = "Many words. ".repeat(40);
    format!("<p>{words}<a href=/>A link</a></p>").repeat(20_000)
}

fn content(path: &str) -> (&'static str, String) {
    let page = |body: &str| ("text/html; charset=utf-8", format!("{COMMON}{body}"));
    match path {
        "/shop" => page(SHOP),
        "/erase" => page(ERASE),
        "/moving" => page(MOVING),
        "/covered" => page(COVERED),
        "/frames" => page(FRAMES),
        "/inner" => page(INNER),
        "/drag" => page(DRAG),
        "/held" => page(HELD),
        "/form" => page(FORM),
        "/cinema" => page(CINEMA),
        "/screen" => page(SCREEN),
        "/hung" => page(&format!("{SCREEN}{HUNG_FRAME}")),
        "/hanging" => page(HANGING),
        "/radio" => page(RADIO),
        "/files" => page(FILES),
        "/typing" => page(TYPING),
        "/written" => page(WRITTEN),
        "/spoof" => page(SPOOF),
        "/tabs" => page(TABS),
        "/popup" => page("<p>The pop-up</p>"),
        "/lazy" => page(LAZY),
        "/secret" => page(SECRET),
        "/rtl" => page(RTL),
        "/large" => page(&large()),
        "/data" => ("text/plain", "forty-two".to_owned()),
        _ => page("<p>Nothing here</p>"),
    }
}
