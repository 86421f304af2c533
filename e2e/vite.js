// A Vite development server in a sandbox, made of the modules that the page is built with.
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";

const modules = join(import.meta.dirname, "..", "web", "node_modules");

const needed = [
  "vite",
  "rolldown",
  "@rolldown",
  "@oxc-project",
  "lightningcss",
  "lightningcss-linux-x64-gnu",
  "postcss",
  "picomatch",
  "tinyglobby",
  "fdir",
  "nanoid",
  "picocolors",
  "source-map-js",
  "detect-libc",
];

const files = {
  // The modules belong to the test, so Vite cannot keep its cache among them.
  "vite.config.js": `export default { cacheDir: "/tmp/vite" };`,
  "index.html": `<title>A program</title><h1></h1><script type="module" src="/main.js"></script>`,
  "main.js": `import { text } from "./text.js";
    const show = (text) => (document.querySelector("h1").textContent = text);
    show(text);
    import.meta.hot.accept("./text.js", (changed) => show(changed.text));`,
  "package.json": `{"type": "module"}`,
};

/** Starts Vite on port 5173 of a session's sandbox, whose home must not be an image. Its page shows `~/app/text.js`. */
export async function startVite(server, session) {
  await server.shell(session, "mkdir -p ~/app");
  const app = join(server.folder, "data", "sandboxes", session, "home", "app");
  for (const name of needed) {
    await cp(join(modules, name), join(app, "node_modules", name), { recursive: true, force: true });
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(app, name), text);
  await sayInVite(server, session, "first");
  const vite = "node node_modules/vite/bin/vite.js --port 5173 --strictPort";
  await server.shell(session, `cd ~/app; setsid ${vite} >~/vite.log 2>&1 &`);
  await server.listens(session, 5173);
}

/** Changes the text that the page shows. */
export async function sayInVite(server, session, text) {
  await server.shell(session, `echo 'export const text = "${text}";' > ~/app/text.js`);
}
