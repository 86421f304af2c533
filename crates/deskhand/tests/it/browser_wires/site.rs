//! A site of three pages, and the task on it.

use deskhand_testkit::PageStep;

pub(super) const START: &str = "http://localhost:8011/";

/// A login, a table with a download and a dialog, and a page with a shadow tree and a frame. The site notes what it was
/// told. Everything has a fixed place.
pub(super) const SITE: &str = r##"
import http.server, threading, urllib.parse

STYLE = """<!doctype html><style>
  body { margin: 0 }
  .at { position: absolute; width: 200px; height: 40px; box-sizing: border-box; font: 16px sans-serif; display: block }
</style>"""

def at(x, y):
    return 'class=at style="left: %dpx; top: %dpx"' % (x, y)

LOGIN = STYLE + """<title>Log in</title><form method=post action=/login>
  <input name=user aria-label=User %s><input name=word type=password aria-label=Password %s>
  <button %s>Log in</button></form>""" % (at(20, 20), at(20, 80), at(20, 140))

TABLE = STYLE + """<title>Orders</title>
  <table class=at style="left: 300px"><tr><th>Order</th><th>Plant</th></tr><tr><td>1</td><td>fern</td></tr></table>
  <a %s href=/list.csv>Export</a>
  <button %s onclick="if (confirm('Delete order 2?')) fetch('/told?deleted+2')">Delete 2</button>
  <a %s href=/more>More</a>""" % (at(20, 80), at(20, 140), at(20, 200))

MORE = STYLE + """<title>More</title><div id=host></div>
  <iframe src=/frame style="position: absolute; left: 0; top: 100px; width: 400px; height: 100px; border: 0"></iframe>
  <script>
    const root = document.getElementById('host').attachShadow({mode: 'open'});
    root.innerHTML = `<button style="position: absolute; left: 20px; top: 20px; width: 200px; height: 40px">In the
      shadow</button>`;
    root.firstChild.onclick = () => fetch('/told?shadow');
  </script>"""

FRAME = STYLE + """<button %s onclick="fetch('/told?frame')">In the frame</button>""" % at(20, 20)

class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/told":
            self.told(urllib.parse.unquote_plus(query))
            self.show("")
        elif path == "/list.csv":
            self.show("fern,3\n", "text/csv", [("Content-Disposition", "attachment; filename=list.csv")])
        else:
            self.show({"/table": TABLE, "/more": MORE, "/frame": FRAME}.get(path, LOGIN))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        fields = urllib.parse.parse_qs(body)
        if fields.get("word") == ["green"]:
            self.told("login " + fields["user"][0])
        self.send_response(303)
        self.send_header("Location", "/table")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def told(self, text):
        with open("/home/agent/told", "a") as told:
            told.write(text + "\n")

    def show(self, text, kind="text/html", more=()):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", 8011), Site).serve_forever()
"##;

/// The task: log in, export the list, delete an order and confirm it, and use two buttons that are hard to reach.
pub(super) fn steps() -> Vec<PageStep> {
    let click = |x, y| PageStep::Click {
        at: (x, y),
        name: None,
    };
    let named = |x, y, name| PageStep::Click {
        at: (x, y),
        name: Some(name),
    };
    vec![
        PageStep::Open(START.to_owned()),
        PageStep::Fill {
            at: (120, 40),
            text: "ada",
        },
        PageStep::Fill {
            at: (120, 100),
            text: "green",
        },
        named(120, 160, "Log in"),
        click(60, 90),
        click(120, 160),
        PageStep::Press("Enter"),
        named(60, 210, "More"),
        named(120, 40, "In the shadow"),
        named(120, 140, "In the frame"),
    ]
}
