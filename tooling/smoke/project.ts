/** An empty folder of somebody who installs packages, and what is tried there. @module */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

export interface Tried {
  readonly what: string;
  /** What was said when it did not work. */
  readonly error?: string;
}

const STEP_TIMEOUT_MS = 300_000;

export class Project {
  readonly folder: string;
  readonly #tried: Tried[] = [];

  constructor(folder: string, registry: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.write("package.json", JSON.stringify({ name: "smoke", private: true, type: "module" }));
    this.write(".npmrc", `@bridge:registry=${registry}\naudit=false\nfund=false\nprefer-offline=true\n`);
  }

  get tried(): readonly Tried[] {
    return this.#tried;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  install(...packages: readonly string[]): Promise<void> {
    return this.#run(`npm install ${packages.length} packages`, "npm", ["install", "--silent", ...packages]);
  }

  /** Runs a command that was installed, or a program. */
  run(what: string, command: string, ...args: readonly string[]): Promise<void> {
    return this.#run(what, command, args);
  }

  /** What a program says. @throws when it fails */
  async output(command: string, ...args: readonly string[]): Promise<string> {
    return (await this.#execute(command, args)).stdout;
  }

  /** Anything else that is tried here; throwing is failing. */
  async try(what: string, trial: () => Promise<unknown>): Promise<void> {
    try {
      await trial();
      this.#tried.push({ what });
    } catch (thrown) {
      const { message, stdout = "", stderr = "" } = thrown as Error & { readonly stdout?: string; stderr?: string };
      this.#tried.push({ what, error: `${stdout}${stderr}`.trim() || message });
    }
  }

  #run(what: string, command: string, args: readonly string[]): Promise<void> {
    return this.try(what, () => this.#execute(command, args));
  }

  #execute(command: string, args: readonly string[]): Promise<{ readonly stdout: string }> {
    const options = { cwd: this.folder, env: { ...process.env, NODE_OPTIONS: "" }, timeout: STEP_TIMEOUT_MS };
    return promisify(execFile)(command, args, options);
  }
}
