import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import type { HostProcess } from "../src/host-process.ts";

/** A process that can be told to receive signals, and that only notes that it was told to exit. */
export class StandIn extends EventEmitter {
  readonly argv: string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable;
  readonly stdout = new Output(false);
  readonly stderr: Output;
  readonly exits: number[] = [];

  constructor({
    args = [],
    env = {},
    terminal = false,
    input = "",
  }: { args?: readonly string[]; env?: NodeJS.ProcessEnv; terminal?: boolean; input?: string } = {}) {
    super();
    this.argv = ["node", "bridge", ...args];
    this.env = env;
    this.stdin = Readable.from([Buffer.from(input)]);
    this.stderr = new Output(terminal);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  /** As the host wants it; nothing of the platform's process beyond that is there. */
  get process(): HostProcess {
    return this as unknown as HostProcess;
  }

  /** The lines of the log. */
  get log(): readonly Record<string, unknown>[] {
    return this.stderr.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

class Output extends EventEmitter {
  text = "";
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  get lines(): readonly string[] {
    return this.text.split("\n").slice(0, -1);
  }

  hasColors(): boolean {
    return false;
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }
}
