import { tryLockFile } from "@bridge/file/internal";
import { leavingOf } from "./drafts.ts";

/** What this process has locked, by the documents beside which it has remembered something. The locks end with it. */
const HELD = new Map<string, Disposable>();

/**
 * Says to other processes on the same document that whoever has remembered what is being left is alive, and goes on
 * leaving it.
 */
export class DepartureLock implements Disposable {
  #target: string | undefined;

  /**
   * Without it, another process takes for its own past what this one has remembered: that is told then, and stops
   * nothing.
   */
  hold(target: string): void {
    try {
      const lock = HELD.get(target) ?? tryLockFile(leavingOf(target));
      if (lock === undefined) return;
      HELD.set(target, lock);
      this.#target = target;
    } catch {
      // Where nothing can be locked nobody can know who runs.
    }
  }

  /** Whether another process has it. */
  static isElsewhere(target: string): boolean {
    if (HELD.has(target)) return false;
    try {
      const lock = tryLockFile(leavingOf(target));
      lock?.[Symbol.dispose]();
      return lock === undefined;
    } catch {
      return false;
    }
  }

  [Symbol.dispose](): void {
    if (this.#target === undefined) return;
    HELD.get(this.#target)?.[Symbol.dispose]();
    HELD.delete(this.#target);
    this.#target = undefined;
  }
}
