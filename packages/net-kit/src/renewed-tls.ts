import type { SecureContextOptions } from "node:tls";
import type { Clock, Logger } from "@bridge/ports";
import { type LastGoodTls, processLastGoodTls } from "./last-good-tls.ts";
import { identityOf, readTlsFiles, type TlsFiles, type TlsIdentity, type TlsMaterial } from "./tls-files.ts";

/** Two looks have to agree before files count, so a renewal is in force after at most twice this. */
const LOOK_INTERVAL_MS = 5_000;
const NOTHING = Buffer.alloc(0);

export interface RenewedTlsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: what all listeners of this process had. */
  readonly lastGood?: LastGoodTls;
}

/** A server of TLS: connections that it takes from then on get the new identity, those that are open keep theirs. */
interface RenewableServer {
  setSecureContext(options: SecureContextOptions): void;
}

/**
 * The identity of a server, as its files have it from time to time.
 *
 * The files are looked at instead of watched: that sees editors, `rename`, swapped links and network file systems alike.
 * What is only half there changes until the next look and is passed over; what cannot be used leaves the last good
 * identity in force.
 */
export class RenewedTls implements Disposable {
  readonly #files: TlsFiles;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lastGood: LastGoodTls;
  #ticker: Disposable | undefined;
  #server: RenewableServer | undefined;
  #looking: Promise<void> | undefined;
  #inForce: TlsIdentity;
  /** What the last look saw. */
  #seen: TlsMaterial | undefined;
  #problem: string | undefined;

  private constructor(files: TlsFiles, identity: TlsIdentity, deps: RenewedTlsDeps) {
    const { clock, logger, lastGood = processLastGoodTls } = deps;
    this.#files = files;
    this.#inForce = identity;
    this.#clock = clock;
    this.#logger = logger;
    this.#lastGood = lastGood;
    lastGood.keep(files, identity);
  }

  /**
   * Starts with the last good identity of these files when they cannot be used now: a listener that is opened again for
   * another reason, amid a renewal, is not lost for it.
   *
   * @throws Error naming the file that cannot be used, when this process has never had a good one of them
   */
  static async load(files: TlsFiles, deps: RenewedTlsDeps): Promise<RenewedTls> {
    try {
      return new RenewedTls(files, identityOf(await readTlsFiles(files), files), deps);
    } catch (error) {
      const identity = (deps.lastGood ?? processLastGoodTls).of(files);
      if (identity === undefined) throw error;
      const tls = new RenewedTls(files, identity, deps);
      tls.#keepLast((error as Error).message);
      return tls;
    }
  }

  /** What a server is made with. */
  get options(): SecureContextOptions {
    return this.#inForce.options;
  }

  /** When the certificate in force expires, in epoch milliseconds. */
  get expiresAt(): number {
    return this.#inForce.expiresAt;
  }

  /** Whether the files hold something that cannot be used, so that an older identity stays in force. */
  get stale(): boolean {
    return this.#problem !== undefined;
  }

  /** Looks at the files from now on, and gives `server` each identity that they come to hold. */
  keep(server: RenewableServer): void {
    this.#server = server;
    this.#ticker = this.#clock.every(LOOK_INTERVAL_MS, () => void this.look());
  }

  /** Looks at the files now. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  [Symbol.dispose](): void {
    this.#ticker?.[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    try {
      const material = await readTlsFiles(this.#files);
      const settled = this.#seen !== undefined && same(material, this.#seen);
      this.#seen = material;
      if (same(material, this.#inForce.material)) this.#problem = undefined;
      else if (settled) this.#renew(material);
    } catch (error) {
      this.#seen = undefined;
      this.#keepLast((error as Error).message);
    }
  }

  #renew(material: TlsMaterial): void {
    const identity = identityOf(material, this.#files);
    this.#server?.setSecureContext(identity.options);
    this.#inForce = identity;
    this.#lastGood.keep(this.#files, identity);
    this.#problem = undefined;
    this.#logger.info("TLS files renewed", {
      cert_file: this.#files.certFile,
      expires_at: new Date(identity.expiresAt).toISOString(),
    });
  }

  #keepLast(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#logger.error("TLS files not usable: the last good certificate stays in force", {
      cert_file: this.#files.certFile,
      error: problem,
    });
  }
}

function same(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert.equals(b.cert) && a.key.equals(b.key) && (a.ca ?? NOTHING).equals(b.ca ?? NOTHING);
}
