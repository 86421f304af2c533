//! The page that is logged in to, and pictures of it.

/// A server of two origins: a form with two fields and a button, each of a colour of its own, and two frames
/// of other origins, one of them of the same site. It has no form for browsers that do not say that a program drives
/// them. It notes the hashes of what it gets, and shows it.
pub(crate) const SERVER: &str = r##"
import hashlib, http.server, threading, urllib.parse

FORM = """<!doctype html><title>form</title><style>
  body { margin: 0 } form { padding: 40px }
  form > * { display: block; width: 300px; height: 40px; border: 0; outline: 0; margin-bottom: 20px; font-size: 20px }
  iframe { width: 300px; height: 60px; border: 0 }
</style>
<form method=post action=/login>
  <input name=user style="background: #1f7a4d">
  <input name=password type=password style="background: #c8744a">
  <button style="background: #335599">Log in</button>
</form>
<iframe src="http://localhost:8002/frame?aa22aa"></iframe>
<iframe src="http://127.0.0.1:8002/frame?22aaaa"></iframe>
<script>if (!navigator.webdriver) document.forms[0].remove()</script>"""
FRAME = '<body style="margin: 0"><input style="width: 100%%; height: 60px; border: 0; outline: 0; background: #%s">'
THANKS = '<body style="margin: 0; background: #ffdd00; color: #ff0077; font: bold 60px sans-serif">%s'

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, colour = self.path.partition("?")
        self.show(FRAME % colour if path == "/frame" else FORM)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        fields = urllib.parse.parse_qs(body)
        with open("/home/agent/got", "a") as got:
            for values in fields.values():
                got.write(hashlib.sha256(values[0].encode()).hexdigest() + "\n")
        self.show(THANKS % fields["user"][0])

    def show(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass

for port in (8001, 8002):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Page)
    threading.Thread(target=server.serve_forever).start()
"##;

/// A picture that the server keeps.
pub(crate) struct Picture {
    width: usize,
    rgb: Vec<u8>,
}

/// The smallest rectangle around something: first and last column, first and last row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rectangle {
    columns: (usize, usize),
    rows: (usize, usize),
}

impl Picture {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(frame.color_type, png::ColorType::Rgb);
        Self {
            width: usize::try_from(frame.width).unwrap(),
            rgb,
        }
    }

    fn points_of(&self, colour: [u8; 3]) -> impl Iterator<Item = (usize, usize)> {
        let pixels = self.rgb.chunks_exact(3).enumerate();
        let width = self.width;
        pixels
            .filter(move |(_, pixel)| *pixel == colour)
            .map(move |(index, _)| (index % width, index / width))
    }

    pub(crate) fn count(&self, colour: [u8; 3]) -> usize {
        self.points_of(colour).count()
    }

    pub(crate) fn box_of(&self, colour: [u8; 3]) -> Option<Rectangle> {
        let (columns, rows): (Vec<_>, Vec<_>) = self.points_of(colour).unzip();
        Some(Rectangle {
            columns: (*columns.iter().min()?, *columns.iter().max()?),
            rows: (*rows.iter().min()?, *rows.iter().max()?),
        })
    }

    pub(crate) fn is_black(&self, Rectangle { columns, rows }: Rectangle) -> bool {
        (rows.0..=rows.1).all(|y| {
            let at = |x: usize| 3 * (y * self.width + x);
            let row = &self.rgb[at(columns.0)..at(columns.1 + 1)];
            row.iter().all(|byte| *byte == 0)
        })
    }
}
