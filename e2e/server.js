// A server in its own folder, which is ended and removed after the test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = join(import.meta.dirname, "..", "target", "debug", "deskhand");

/**
 * Polls until the condition holds. The last check begins after the deadline, because on a busy machine a check may
 * take long. A pause is as long as the check before it, so that checks leave half of the time to others.
 */
export async function eventually(what, isSo, seconds = 60) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const begin = Date.now();
    if (await isSo()) return;
    if (begin > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(50, Date.now() - begin)));
  }
}

/** Skips a test that shows nothing on this machine. The report of all tests names it. */
export async function notRun(t, reason) {
  const report = process.env.DESKHAND_TEST_NOT_RUN;
  if (report) await appendFile(report, `${t.name}: ${reason}\n`);
  t.skip(reason);
}

export class Server {
  /**
   * Starts a server.
   *
   * `demo` replaces the built-in demo with this scenario. `scenarios` are further ones, by name. `env` overrides
   * our own environment. `host` is a name that the server finds on this machine.
   */
  static async start({ demo, scenarios = {}, env, host } = {}) {
    const server = new Server();
    server.env = env;
    server.host = host;
    server.folder = await mkdtemp(join(tmpdir(), "deskhand-e2e-"));
    const folder = join(server.folder, "data", "scenarios");
    await mkdir(folder, { recursive: true });
    for (const [name, yaml] of Object.entries(demo ? { ...scenarios, demo } : scenarios)) {
      await writeFile(join(folder, `${name}.yaml`), yaml);
    }
    server.logFile = openSync(join(server.folder, "log"), "a");
    await server.run("127.0.0.1:0");
    return server;
  }

  /** Starts the process and waits until it prints its address. */
  async run(listen) {
    const data = join(this.folder, "data");
    const [command, ...first] = [...(await this.covers()), program];
    this.process = spawn(command, [...first, "serve", "--listen", listen, "--data-dir", data], {
      stdio: ["ignore", "pipe", this.logFile],
      env: { ...process.env, ...this.env },
    });
    for await (const line of createInterface({ input: this.process.stdout })) {
      const page = line.match(/^ *Open +(http:\S+)/)?.[1];
      if (page) {
        this.url = new URL(page).origin;
        this.link = (await this.api("POST", "/sign-in-links")).url;
        return;
      }
    }
    throw new Error("the server did not start");
  }

  /** Returns the command that gives the server a name for this machine, if it should have one. */
  async covers() {
    if (!this.host) return [];
    const file = join(this.folder, "hosts");
    // The server looks up names with a trailing dot.
    await writeFile(file, `127.0.0.1 localhost ${this.host} ${this.host}.\n`);
    return ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--ro-bind", file, "/etc/hosts"];
  }

  /** Returns the server's output on standard error so far. */
  output() {
    return readFile(join(this.folder, "log"), "utf8");
  }

  /** Returns the API's response to an administrator. Throws if the API refuses. */
  async api(method, path, body) {
    const token = (await readFile(join(this.folder, "data", "admin-token"), "utf8")).trim();
    const response = await fetch(`${this.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const is_json = response.headers.get("content-type")?.includes("json");
    return is_json ? response.json() : Buffer.from(await response.arrayBuffer());
  }

  /** Runs a command in a session's sandbox and returns its text. */
  async shell(session, command) {
    const body = { tool: "bash", input: { shell: "run", command } };
    return (await this.api("POST", `/sessions/${session}/actions`, body)).text;
  }

  /** Waits until a program listens on a port of a session's sandbox, or until none does. */
  async listens(session, port, isExpected = true) {
    await eventually(`port ${port} is ${isExpected ? "" : "not "}listed`, async () => {
      const { ports } = await this.api("GET", `/sessions/${session}/ports`);
      return ports.some((one) => one.port === port) === isExpected;
    });
  }

  /** Returns all events of a session. `known` are those already loaded. */
  async log(session, known = []) {
    const events = [...known];
    for (;;) {
      const page = await this.api("GET", `/sessions/${session}/events?after=${events.length}&limit=5000`);
      if (page.events.length === 0) return events;
      events.push(...page.events);
    }
  }

  /** Returns the screen of the newest session as a PNG, or undefined if it has no desktop yet. */
  async picture() {
    const { sessions } = await this.api("GET", "/sessions?limit=1");
    if (sessions[0]?.sandbox !== "ready") return undefined;
    return this.api("GET", `/sessions/${sessions[0].id}/screenshot`);
  }

  /**
   * Gives a new session with this model a task, waits for the end of the turn, and returns the session and its log.
   */
  async task(model, content) {
    const { id } = await this.api("POST", "/sessions", { model });
    await this.api("POST", `/sessions/${id}/messages`, { content });
    const deadline = Date.now() + 120_000;
    let log = [];
    for (;;) {
      log = await this.log(id, log);
      const end = log.find(({ type, data }) => type === "complete" || (type === "error" && data.turn));
      if (end) return { id, log, end };
      if (Date.now() > deadline) {
        await writeFile(join(import.meta.dirname, "results", "no-end.png"), await this.picture());
        throw new Error(`no end: ${JSON.stringify(log.slice(-5))}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Kills the server without warning. */
  async kill() {
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }

  /** Starts the server again at the same address. */
  async runAgain() {
    await this.run(new URL(this.url).host.replace("localhost", "127.0.0.1"));
  }

  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill("SIGTERM");
      await once(this.process, "exit");
    }
    closeSync(this.logFile);
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
