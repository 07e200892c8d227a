import { deadline, orAborted } from "./async.ts";
import { askInTime, boundAnswers, NoCredentialsError } from "./credentials-requests.ts";
import { systemClock } from "./system.ts";

/** How long one request for credentials may take. What answers them is on the machine or beside it. */
const REQUEST_MS = 2_000;
/** How long who needs credentials waits for them: several requests may be one answer. */
const WAIT_MS = 10_000;
/** So long before they expire new ones are asked for; the SDK does the same. */
const RENEWED_MS = 300_000;
/** No renewal begins sooner after the one before: who gives credentials counts the requests. */
const RENEWAL_PAUSE_MS = 10_000;
/** A service that refuses what is known does not wait for that pause, but what stays refused is not asked for more often. */
const REFUSAL_PAUSE_MS = 1_000;
/** Who asks so soon after a failure is told of that. */
const FAILURE_PAUSE_MS = 1_000;

/** What a service says of credentials that it does not take any more, or not yet. */
const REFUSED =
  /(?:^|[.#])(?:ExpiredToken(?:Exception)?|InvalidClientTokenId|InvalidSecurity|UnrecognizedClientException)$/;

interface Asked {
  readonly forceRefresh?: boolean;
}

interface Credentials {
  readonly expiration?: Date;
  readonly accessKeyId?: string;
}

type Ask<Found> = (options?: Asked) => Promise<Found>;

/** Where a client of the SDK lets others in on its requests. */
interface RequestStack {
  addRelativeTo(middleware: <A, B>(next: (args: A) => Promise<B>) => (args: A) => Promise<B>, place: object): void;
}

export interface CredentialTimes {
  /** Milliseconds. */
  readonly requestMs?: number;
  readonly waitMs?: number;
  readonly renewalPauseMs?: number;
  readonly refusalPauseMs?: number;
  readonly failurePauseMs?: number;
}

/**
 * Bounds the size of each answer to a client of the AWS SDK, and the time and size of what it asks for its credentials: the
 * endpoint of a container, a role, single sign-on. The SDK has no bound over a whole answer, so everything that needs credentials
 * would wait for ever for one that trickles. One request at a time asks for them, with a pause between two. A request that is
 * refused for its credentials asks for others at once, and is signed and made once more if there are any.
 */
export function boundCredentials<Found extends Credentials>(
  client: {
    readonly config: { credentials: Ask<Found>; readonly requestHandler: Parameters<typeof boundAnswers>[0] };
    readonly middlewareStack: unknown;
  },
  times: CredentialTimes = {},
): void {
  boundAnswers(client.config.requestHandler);
  const timely = new TimelyCredentials(client.config.credentials, times);
  // The SDK has kept them already.
  client.config.credentials = Object.assign((options?: Asked) => timely.get(options), { memoized: true });
  (client.middlewareStack as RequestStack).addRelativeTo(
    (next) => async (args) => {
      const { known } = timely;
      try {
        return await next(args);
      } catch (thrown) {
        const { name } = (thrown ?? {}) as { readonly name?: unknown };
        if (typeof name === "string" && REFUSED.test(name) && (await timely.othersThan(known ?? timely.known)))
          return next(args);
        throw thrown;
      }
    },
    // What comes after the signing would be made again with the signature that was refused.
    { name: "refusedCredentials", relation: "before", toMiddleware: "httpSigningMiddleware" },
  );
}

/** Credentials that are asked for anew before they expire, by one at a time. */
class TimelyCredentials<Found extends Credentials> {
  readonly #ask: Ask<Found>;
  readonly #times: Required<CredentialTimes>;
  #known: Found | undefined;
  /** Their end was past when they came: this clock is wrong, or that of who gave them. */
  #camePast = false;
  #asking: Promise<Found> | undefined;
  #askedAt = -Infinity;
  /** When a refusal was the reason to ask. */
  #refusedAt = -Infinity;
  #failure: { readonly error: unknown; readonly at: number } | undefined;

  constructor(ask: Ask<Found>, times: CredentialTimes) {
    this.#ask = ask;
    this.#times = {
      requestMs: REQUEST_MS,
      waitMs: WAIT_MS,
      renewalPauseMs: RENEWAL_PAUSE_MS,
      refusalPauseMs: REFUSAL_PAUSE_MS,
      failurePauseMs: FAILURE_PAUSE_MS,
      ...times,
    };
  }

  get known(): Found | undefined {
    return this.#known;
  }

  async get(options: Asked = {}): Promise<Found> {
    const known = this.#known;
    if (known !== undefined && options.forceRefresh !== true && this.#isUsable(known)) {
      // Left to itself, the SDK would renew behind the back of whoever asks, where on Node 22 no bound reaches it.
      if (lifeMs(known) < RENEWED_MS && this.#mayRenew) this.#renew().catch(() => {});
      return known;
    }
    const sinceFailure = systemClock.monotonic() - (this.#failure?.at ?? -Infinity);
    if (this.#asking === undefined && sinceFailure < this.#times.failurePauseMs) throw this.#failure?.error;
    return this.#inTime(this.#asked(options));
  }

  /** Whether there are others than `refused` by now; asks for them, unless that was done a moment ago. */
  async othersThan(refused: Found | undefined): Promise<boolean> {
    try {
      if (this.#isKey(refused) && this.#mayAskForOthers()) await this.#inTime(this.#renew());
    } catch {
      return false;
    }
    return !this.#isKey(refused);
  }

  #isKey(refused: Found | undefined): boolean {
    return this.#known?.accessKeyId === refused?.accessKeyId;
  }

  /** The first refusal has its turn however lately they were asked for: they came while the key still held. */
  #mayAskForOthers(): boolean {
    if (this.#asking !== undefined) return true;
    const now = systemClock.monotonic();
    if (now - this.#refusedAt < this.#times.refusalPauseMs) return false;
    this.#refusedAt = now;
    return true;
  }

  /** Of those that came past, the service is the judge: asking for them with each request would bring the same again. */
  #isUsable(known: Found): boolean {
    return lifeMs(known) > 0 || (this.#camePast && this.#failure === undefined && !this.#mayRenew);
  }

  get #mayRenew(): boolean {
    return this.#asking !== undefined || systemClock.monotonic() - this.#askedAt >= this.#times.renewalPauseMs;
  }

  #renew(): Promise<Found> {
    return this.#asked({ forceRefresh: true });
  }

  #asked(options: Asked): Promise<Found> {
    this.#asking ??= this.#askNow(options);
    return this.#asking;
  }

  async #askNow(options: Asked): Promise<Found> {
    this.#askedAt = systemClock.monotonic();
    try {
      this.#known = await askInTime(this.#times.requestMs, () => this.#ask(options));
      this.#camePast = lifeMs(this.#known) <= 0;
      this.#failure = undefined;
      return this.#known;
    } catch (error) {
      this.#failure = { error, at: systemClock.monotonic() };
      throw error;
    } finally {
      this.#asking = undefined;
    }
  }

  async #inTime(found: Promise<Found>): Promise<Found> {
    const { waitMs } = this.#times;
    using limit = deadline(
      systemClock,
      waitMs,
      () => new NoCredentialsError(`nobody has given credentials within ${waitMs} ms`),
    );
    return await orAborted(found, limit.signal);
  }
}

function lifeMs({ expiration }: Credentials): number {
  return expiration === undefined ? Infinity : expiration.getTime() - systemClock.now();
}
