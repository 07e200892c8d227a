import { tryLockFile } from "@bridge/file/internal";

/** What this process has locked, by where it has remembered something. The locks end with it. */
const HELD = new Map<string, Disposable>();

/**
 * Says to other processes on the same document that whoever has remembered what is being left is alive, and goes on
 * leaving it.
 */
export class DepartureLock implements Disposable {
  #path: string | undefined;

  /**
   * Without it, another process takes for its own past what this one has remembered: that is told then, and stops
   * nothing.
   */
  hold(path: string): void {
    try {
      const lock = HELD.get(path) ?? tryLockFile(path);
      if (lock === undefined) return;
      if (this.#path !== path) this[Symbol.dispose]();
      HELD.set(path, lock);
      this.#path = path;
    } catch {
      // Where nothing can be locked nobody can know who runs.
    }
  }

  /** Whether another process has it. */
  static isElsewhere(path: string): boolean {
    if (HELD.has(path)) return false;
    try {
      const lock = tryLockFile(path);
      lock?.[Symbol.dispose]();
      return lock === undefined;
    } catch {
      return false;
    }
  }

  [Symbol.dispose](): void {
    if (this.#path === undefined) return;
    HELD.get(this.#path)?.[Symbol.dispose]();
    HELD.delete(this.#path);
    this.#path = undefined;
  }
}
