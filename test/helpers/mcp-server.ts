import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { buildProgram } from "./built-program.ts";

/** The published program, in a folder of its own. */
export function buildPawl(): { folder: string; program: string } {
  const { folder, pawl } = buildProgram();
  return { folder: dirname(folder), program: pawl };
}

export interface Place {
  program: string;
  cwd: string;
  env: Record<string, string>;
  args?: string[];
  /** What the client calls itself. */
  name?: string;
}

/** The SDK's own client, as a real agent would be. */
export async function connect({
  program,
  cwd,
  env,
  args = [],
  name = "test client",
}: Place): Promise<Client> {
  const client = new Client({ name, version: "1" });
  const command = process.execPath;
  // The transport of the SDK adds variables of this process; every one of them is named here instead.
  await client.connect(new StdioClientTransport({ command, args: [program, "mcp", ...args], cwd, env }));
  return client;
}

export interface ToolAnswer {
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  data: any;
  failed: boolean;
}

export async function call(client: Client, name: string, args: object = {}): Promise<ToolAnswer> {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
  const [first] = result.content;
  return {
    text: first?.type === "text" ? first.text : "",
    data: result.structuredContent,
    failed: result.isError === true,
  };
}

/** A client that says exactly what it is told to, byte for byte. */
export class RawClient {
  readonly child: ChildProcess;
  err = "";
  #out = "";
  #id = 0;
  // biome-ignore lint/suspicious/noExplicitAny: messages of every shape
  readonly messages: any[] = [];
  readonly #wanted = new Map<number, (message: unknown) => void>();
  readonly ended: Promise<number | null>;

  constructor({ program, cwd, env, args = [] }: Place) {
    this.child = spawn(process.execPath, [program, "mcp", ...args], { cwd, env, stdio: "pipe" });
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
    this.child.stdout?.on("data", (chunk) => this.#read(String(chunk)));
    this.child.stderr?.on("data", (chunk) => {
      this.err += chunk;
    });
    this.child.stdin?.on("error", () => {});
  }

  #read(text: string): void {
    this.#out += text;
    const lines = this.#out.split("\n");
    this.#out = lines.pop() ?? "";
    for (const line of lines) {
      // Whatever is no message of the protocol fails the test here.
      const message = JSON.parse(line);
      if (message.jsonrpc !== "2.0") throw new Error(`Not a message: ${line}`);
      this.messages.push(message);
      this.#wanted.get(message.id)?.(message);
    }
  }

  send(bytes: string | Buffer): void {
    this.child.stdin?.write(bytes);
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  request(method: string, params: object = {}, id = ++this.#id): Promise<any> {
    this.#id = Math.max(this.#id, id);
    const answer = new Promise((done, fail) => {
      this.#wanted.set(id, done);
      this.ended.then(() => fail(new Error(`The server ended: ${this.err}`)));
    });
    this.send(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return answer;
  }

  async initialize(name = "raw client"): Promise<void> {
    const clientInfo = { name, version: "1" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.send(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }

  call(name: string, args: unknown = {}, meta?: object) {
    return this.request("tools/call", { name, arguments: args, ...(meta ? { _meta: meta } : {}) });
  }

  async end(): Promise<number | null> {
    this.child.stdin?.end();
    return this.ended;
  }
}
