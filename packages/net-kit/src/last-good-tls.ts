import type { TlsFiles, TlsIdentity } from "./tls-files.ts";

/** More than a bridge has listeners with files of their own. */
const MAX_KEPT = 32;

/**
 * The last good identity of TLS files, which outlives the listener that had it: the files may be half replaced when the
 * next one opens. Beyond its limit the one that was not used for the longest time is forgotten.
 */
export class LastGoodTls {
  readonly #limit: number;
  readonly #kept = new Map<string, TlsIdentity>();

  constructor(limit: number = MAX_KEPT) {
    this.#limit = limit;
  }

  of(files: TlsFiles): TlsIdentity | undefined {
    return this.#kept.get(keyOf(files));
  }

  keep(files: TlsFiles, identity: TlsIdentity): void {
    const key = keyOf(files);
    this.#kept.delete(key);
    this.#kept.set(key, identity);
    if (this.#kept.size <= this.#limit) return;
    const [oldest = key] = this.#kept.keys();
    this.#kept.delete(oldest);
  }
}

/** That of the listeners of this process, all of them together. */
export const processLastGoodTls = new LastGoodTls();

function keyOf({ certFile, keyFile, clientCaFile }: TlsFiles): string {
  return JSON.stringify([certFile, keyFile, clientCaFile]);
}
