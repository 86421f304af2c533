// The Discord of the tests: the same program as in crates/jamie/tests/discord/, and a person who writes to the bot.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { eventually } from "./server.js";

const root = join(import.meta.dirname, "..");
const python = join(root, ".make", "python", "jamie", "bin", "python");
const TOKEN = "test.token";

export class Discord {
  static isInstalled = existsSync(python);

  /** Starts a Discord. It ends with this process, or with `end`. */
  static async start() {
    const discord = new Discord();
    const adapter = join(root, "crates", "jamie", "tests", "discord", "adapter.py");
    discord.process = spawn(python, [adapter, TOKEN], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    });
    const [port] = await once(createInterface({ input: discord.process.stdout }), "line");
    discord.url = `http://127.0.0.1:${port}`;
    return discord;
  }

  /** Returns the environment of a server whose bot talks to this Discord. */
  get env() {
    return {
      DESKHAND_JAMIE_TOKEN: TOKEN,
      DESKHAND_JAMIE_API_URL: this.url,
      DESKHAND_JAMIE_GATEWAY_URL: this.url.replace("http", "ws"),
    };
  }

  /** Does something in Discord. The answer's ids have more digits than numbers can have, so they stay text. */
  async ask(operation, text) {
    const response = await fetch(`${this.url}/control/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: text,
    });
    if (!response.ok) throw new Error(`${operation}: ${response.status}`);
    return response.text();
  }

  /** Waits until the bot is connected. */
  connected() {
    return eventually("the bot is connected", async () => JSON.parse(await this.ask("state", "{}")).commands.length > 0);
  }

  /** Adds a server with a voice channel. */
  async server(name) {
    const id = await this.ask("guild", JSON.stringify({ name }));
    const voice = await this.ask("voice_channel", `{"guild": ${id}, "name": "Movie Night"}`);
    return { id, voice };
  }

  /** Adds a person to a server. */
  async person(name, server) {
    const id = await this.ask("user", JSON.stringify({ name }));
    await this.ask("member", `{"guild": ${server.id}, "user": ${id}}`);
    return new Person(this, id);
  }

  /** Waits until the bot has written this, whether or not it has changed the message since. */
  async wrote(part) {
    await eventually(`the bot has written “${part}”`, async () => {
      const { requests } = JSON.parse(await this.ask("state", "{}"));
      return requests.some(([, , body]) => body?.content?.includes(part));
    });
  }

  async end() {
    this.process.stdin.end();
    if (this.process.exitCode === null) await once(this.process, "exit");
  }
}

class Person {
  #discord;
  #id;

  constructor(discord, id) {
    this.#discord = discord;
    this.#id = id;
  }

  async join(server) {
    await this.#discord.ask("voice", `{"guild": ${server.id}, "user": ${this.#id}, "channel": ${server.voice}}`);
  }

  async write(text) {
    await this.#discord.ask("dm", `{"user": ${this.#id}, "text": ${JSON.stringify(text)}}`);
  }

  /** Returns the bot's messages to this person. */
  async messages() {
    const channel = await this.#discord.ask("dm_channel", `{"user": ${this.#id}}`);
    const { messages } = JSON.parse(await this.#discord.ask("messages", `{"channel": ${channel}}`));
    return messages.filter(({ author, content }) => author.username === "TestBot" && content !== "");
  }

  /** Waits for a message of the bot that contains this, and returns it. */
  async hears(part) {
    let found;
    await eventually(`the bot writes “${part}”`, async () => {
      found = (await this.messages()).find(({ content }) => content.includes(part));
      return found !== undefined;
    });
    return found;
  }
}
