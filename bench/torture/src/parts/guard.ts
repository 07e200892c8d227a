import { type ChildProcess, fork } from "node:child_process";

/** What the guard has to know. */
export type GuardNote =
  | { readonly kind: "started" | "ended"; readonly pid: number }
  | { readonly kind: "mounted" | "unmounted"; readonly path: string };

const PROGRAM = new URL("../guard/main.ts", import.meta.url);

/** A process that ends all others and unmounts all disks if this one cannot, because it was killed. */
export class Guard implements Disposable {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = fork(PROGRAM, { stdio: ["ignore", "ignore", "inherit", "ipc"], detached: true });
    this.#process.unref();
    this.#process.channel?.unref();
  }

  note(note: GuardNote): void {
    if (this.#process.connected) this.#process.send(note, () => {});
  }

  [Symbol.dispose](): void {
    if (this.#process.connected) this.#process.disconnect();
  }
}
