import {
  DynamoDBClient,
  type DynamoDBClientConfig,
  type DynamoDBClientResolvedConfig,
  type $Command,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from "@aws-sdk/client-dynamodb";
import { BridgeError, type Clock, type Random, type StoreHealth } from "@bridge/ports";
import { boundCredentials, orAborted, FaultWatch, LinkedAbort, retryDelay, Slots } from "@bridge/ports/internal";
import { rememberEndpoints } from "./asked-endpoint.ts";
import { addConsumption, type Consumed } from "./consumption.ts";
import { failureOf, isConditionFailed, NoAnswer } from "./failure.ts";
import { ServiceTime } from "./service-time.ts";

/** A request to be sent: any command of the SDK's client. */
export type Command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  DynamoDBClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;

/** What became of a write under a condition. */
export type Conditional<Output> =
  | { readonly made: true; readonly output: Output }
  | {
      readonly made: false;
      /**
       * An earlier try of this very write got no answer, so what the condition met may be one's own work: read and look.
       * Where it is false, nothing was written.
       */
      readonly unsure: boolean;
    };

export interface DynamoOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How long a call may take with all its tries, in milliseconds. Default: 20 s. The caller's signal bounds it too. */
  readonly callTimeoutMs?: number | undefined;
  /** How long a first try may take, in milliseconds. Default: 3 s. */
  readonly tryTimeoutMs?: number | undefined;
  /** A try that follows one without an answer may take twice as long, up to so many milliseconds. Default: the call's time. */
  readonly longestTryMs?: number | undefined;
  /**
   * A harmless request, sent every few seconds while nobody calls or something has failed: a store tells that way when its
   * service is away, and when it is back. `faulty`: it has to show that writing works. Default: nothing is sent.
   */
  readonly trial?: ((client: DynamoClient, faulty: boolean, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Is told what each answered request has consumed. */
  readonly onConsumed?: ((consumed: Consumed) => void) | undefined;
  /** For the SDK's client, such as credentials. Default: region, endpoint and credentials as the SDK finds them. */
  readonly sdk?: DynamoDBClientConfig | undefined;
}

const CALL_TIMEOUT_MS = 20_000;
const TRY_TIMEOUT_MS = 3_000;
/** What so many tries have met is told before the call is given up. */
const TELLING_TRIES = 3;
const CONNECT_TIMEOUT_MS = 1_500;
/** The clocks may be minutes apart before a signature is refused for it. */
const SKEW_MS = 60_000;
/** Requests on the way at once, a connection each; more wait for their turn. */
const REQUESTS = 50;
/** A reason that costs nothing: without one each request would make an exception. */
const DONE = new Error("done");
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/**
 * Requests to DynamoDB, bounded and tried again. What is throttled, fails in the service or gets no answer is sent again
 * after a random wait that grows, until the call's time is up or its signal aborts; what got no answer has more time at the
 * next try, because what is large is long on its way.
 *
 * Calls reject with a {@link BridgeError}, uncharged, whose text has neither keys nor content of items; or with the
 * signal's reason. Whether a rejected write was made is then unknown.
 */
export class DynamoClient implements AsyncDisposable {
  readonly #sdk: DynamoDBClient;
  readonly #options: DynamoOptions;
  readonly #slots = new Slots(REQUESTS);
  readonly #calls = new Set<LinkedAbort>();
  readonly #over = new AbortController();
  readonly #faults: FaultWatch;
  readonly #serviceTime: ServiceTime;
  /** Since the last look: what is answered need not be asked, which costs. */
  #answered = false;

  constructor(options: DynamoOptions) {
    const { clock, trial } = options;
    this.#options = options;
    this.#faults = new FaultWatch(
      clock,
      trial && (async (faulty, signal) => (faulty || !this.#wasAnswered() ? trial(this, faulty, signal) : undefined)),
      this.#over.signal,
    );
    this.#sdk = new DynamoDBClient({
      // Tries are counted and timed here, once, under the caller's signal and the injected clock.
      maxAttempts: 1,
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        httpAgent: { keepAlive: true, maxSockets: REQUESTS },
        httpsAgent: { keepAlive: true, maxSockets: REQUESTS },
        logger: SILENT,
      },
      ...options.sdk,
    });
    addConsumption(this.#sdk, options.onConsumed);
    this.#serviceTime = new ServiceTime(this.#sdk, clock);
    rememberEndpoints(this.#sdk);
    boundCredentials(this.#sdk);
  }

  /** @throws BridgeError `DESTINATION_NOT_FOUND` when the SDK finds no region, or none that can be, with the remedy */
  async requireRegion(): Promise<void> {
    try {
      await this.#sdk.config.region();
    } catch {
      const remedy = "set AWS_REGION, or a region in the AWS profile, to one such as eu-central-1";
      throw new BridgeError("DESTINATION_NOT_FOUND", `no usable AWS region is configured: ${remedy}`, {
        charged: false,
      });
    }
  }

  /** The answer to one request. A condition that does not hold is `REJECTED`: use {@link sendIf} where that can be. */
  async send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: Command<Input, Output>,
    signal: AbortSignal,
  ): Promise<Output> {
    const result = await this.sendIf(command, signal);
    if (result.made) return result.output;
    throw new BridgeError("REJECTED", `${nameOf(command)}: a condition did not hold`, { charged: false });
  }

  /** A write under a condition. Of writers that race, the table lets one through. */
  async sendIf<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: Command<Input, Output>,
    signal: AbortSignal,
  ): Promise<Conditional<Output>> {
    signal.throwIfAborted();
    this.#over.signal.throwIfAborted();
    using call = new LinkedAbort(signal);
    this.#calls.add(call);
    let failed: BridgeError | undefined;
    try {
      const result = await this.#sendIf(command, call.signal, (error) => (failed = error));
      this.#answered = true;
      this.#faults.succeeded(nameOf(command));
      return result;
    } catch (error) {
      // Also when the caller gave up: it did because of that. A call without a failed try says nothing.
      if (failed !== undefined) this.#faults.failed(nameOf(command), failed);
      throw error;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Why a call failed, or its last try before it was given up; nothing once that works again. */
  health(): StoreHealth {
    return this.#faults.health();
  }

  /** How far the clock of the service is ahead of this process's, in milliseconds, as its last answer told; 0 for less than 2 s. */
  get aheadMs(): number {
    return this.#serviceTime.aheadMs;
  }

  /** Finds out at once whether it works; {@link health} tells then. */
  prove(): Promise<void> {
    this.#answered = false;
    return this.#faults.look();
  }

  /** What {@link health} tells of, with its code. */
  get failure(): BridgeError | undefined {
    return this.#faults.failure;
  }

  /** Ends what is under way, as `UNAVAILABLE`. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#over.abort(new BridgeError("UNAVAILABLE", "the store is closed", { charged: false }));
    for (const call of this.#calls) call.abort(this.#over.signal.reason as BridgeError);
    this.#sdk.destroy();
  }

  #wasAnswered(): boolean {
    const answered = this.#answered;
    this.#answered = false;
    return answered;
  }

  async #sendIf<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: Command<Input, Output>,
    signal: AbortSignal,
    onFailure: (error: BridgeError) => void,
  ): Promise<Conditional<Output>> {
    const { clock, random, callTimeoutMs = CALL_TIMEOUT_MS, tryTimeoutMs = TRY_TIMEOUT_MS } = this.#options;
    const { longestTryMs = callTimeoutMs } = this.#options;
    const endsAt = clock.monotonic() + callTimeoutMs;
    let unsure = false;
    let tryMs = tryTimeoutMs;
    for (let tries = 1; ; tries++) {
      const { systemClockOffset: before } = this.#sdk.config;
      try {
        return { made: true, output: await this.#try(command, tryMs, endsAt, signal) };
      } catch (thrown) {
        signal.throwIfAborted();
        if (isConditionFailed(thrown)) return { made: false, unsure };
        // The SDK's own mark is not there when the clock was wrong and has been put right.
        const clockCorrected = Math.abs(this.#sdk.config.systemClockOffset - before) > SKEW_MS;
        const failure = failureOf(thrown, nameOf(command), clockCorrected);
        onFailure(failure.error);
        // What is only late may be large.
        if (tries >= TELLING_TRIES && failure.error.code !== "TIMEOUT")
          this.#faults.failed(nameOf(command), failure.error);
        unsure ||= failure.unsure;
        if (failure.error.code === "TIMEOUT") tryMs = Math.max(tryMs, Math.min(2 * tryMs, longestTryMs));
        const delayMs = retryDelay(tries, random);
        if (!failure.again || clock.monotonic() + delayMs >= endsAt) throw failure.error;
        await clock.delay(delayMs, signal);
      }
    }
  }

  async #try<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: Command<Input, Output>,
    tryMs: number,
    endsAt: number,
    signal: AbortSignal,
  ): Promise<Output> {
    const { clock } = this.#options;
    using _ = await this.#slots.take(signal);
    // Its own, because the SDK leaves its listener there until the connection is done with the request.
    using request = new LinkedAbort(signal);
    const timer = new AbortController();
    const timeoutMs = Math.max(0, Math.min(tryMs, endsAt - clock.monotonic()));
    const timeout = clock.delay(timeoutMs, timer.signal).then(() => request.abort(new NoAnswer()));
    timeout.catch(() => {});
    try {
      return await orAborted(this.#sdk.send(command, { abortSignal: request.signal }), request.signal);
    } finally {
      timer.abort(DONE);
    }
  }
}

/** `PutItem on table t`; of a request on several tables or none, such as a batch, the operation alone. */
function nameOf(command: { readonly input: ServiceInputTypes }): string {
  // Bundlers add underscores and numbers to names of classes.
  const operation = command.constructor.name.replace(/^_+|Command\d*$/g, "");
  const { input } = command;
  const table = "TableName" in input ? input.TableName : undefined;
  return table === undefined ? operation : `${operation} on table ${table}`;
}
