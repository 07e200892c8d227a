import { execFile } from "node:child_process";
import { mkdir, statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Guard } from "./guard.ts";

const run = promisify(execFile);
const PAGE_BYTES = 4_096;
/** A limit, not a reservation: only what is written takes memory. */
const SIZE_BYTES = 1024 * 1024 * 1024;
const TRIES = 20;
/** Left for whoever writes faster than the disk can be made smaller; more with each try. */
const ROOM_BYTES = 16 * PAGE_BYTES;
const UNMOUNT_TRIES = 50;
/** Whoever found the disk full may say so this much later. */
const AFTERMATH_MS = 3_000;

/** A disk of its own for one store, which can be full. */
export class Disk implements AsyncDisposable {
  readonly path: string;
  readonly #guard: Guard;
  #full = false;
  #freedAt = Number.NEGATIVE_INFINITY;

  private constructor(path: string, guard: Guard) {
    this.path = path;
    this.#guard = guard;
  }

  /** `undefined` where mounting is refused: the folder is there all the same. */
  static async mount(path: string, guard: Guard): Promise<Disk | undefined> {
    await mkdir(path, { recursive: true });
    try {
      await run("mount", ["-t", "tmpfs", "-o", `size=${SIZE_BYTES},mode=0700`, "torture", path]);
    } catch {
      return undefined;
    }
    guard.note({ kind: "mounted", path });
    return new Disk(path, guard);
  }

  /** Whether it is full, or was a moment ago. */
  get tight(): boolean {
    return this.#full || performance.now() - this.#freedAt < AFTERMATH_MS;
  }

  /** Leaves no room, or so little that whoever writes has soon used it up. */
  async fill(): Promise<void> {
    this.#full = true;
    for (let tries = 1; ; tries++) {
      const { blocks, bfree, bsize } = await statfs(this.path);
      const used = Math.ceil(((blocks - bfree) * bsize) / PAGE_BYTES) * PAGE_BYTES;
      try {
        await this.#resize(Math.max(used, PAGE_BYTES) + (tries - 1) * ROOM_BYTES);
        return;
      } catch (error) {
        // Somebody has written meanwhile: it cannot be smaller than what is on it.
        if (tries === TRIES) throw error;
      }
    }
  }

  async free(): Promise<void> {
    await this.#resize(SIZE_BYTES);
    this.#full = false;
    this.#freedAt = performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await run("umount", [this.path]);
        this.#guard.note({ kind: "unmounted", path: this.path });
        return;
      } catch (error) {
        if (tries === UNMOUNT_TRIES) throw error;
        await sleep(100);
      }
    }
  }

  async #resize(bytes: number): Promise<void> {
    await run("mount", ["-o", `remount,size=${bytes}`, this.path]);
  }
}
