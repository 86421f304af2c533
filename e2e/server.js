// A server in a folder of its own, killed and cleared away at the end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = join(import.meta.dirname, "..", "target", "debug", "deskhand");

export class Server {
  /** With `demo`, the built-in demo is replaced by this scenario; `scenarios` are others, by name. */
  static async start({ demo, scenarios = {} } = {}) {
    const server = new Server();
    server.folder = await mkdtemp(join(tmpdir(), "deskhand-e2e-"));
    const folder = join(server.folder, "data", "scenarios");
    await mkdir(folder, { recursive: true });
    for (const [name, yaml] of Object.entries(demo ? { ...scenarios, demo } : scenarios)) {
      await writeFile(join(folder, `${name}.yaml`), yaml);
    }
    await server.run("127.0.0.1:0");
    return server;
  }

  /** Starts the process and waits until it says where to look. */
  async run(listen) {
    const data = join(this.folder, "data");
    this.process = spawn(program, ["serve", "--listen", listen, "--data-dir", data], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    for await (const line of createInterface({ input: this.process.stdout })) {
      const link = line.match(/http:\S+\/\?code=\S+/)?.[0];
      if (link) {
        this.link = link;
        this.url = new URL(link).origin;
        return;
      }
    }
    throw new Error("the server did not start");
  }

  /** Kills it without warning. */
  async kill() {
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }

  /** Starts it once more at the same address. */
  async runAgain() {
    await this.run(new URL(this.url).host.replace("localhost", "127.0.0.1"));
  }

  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill("SIGTERM");
      await once(this.process, "exit");
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}
