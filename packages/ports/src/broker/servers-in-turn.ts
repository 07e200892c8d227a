import { deadline } from "../async.ts";
import { BridgeError } from "../errors.ts";
import { systemClock } from "../system.ts";

/** What bounds one attempt to connect. */
interface AttemptBounds {
  /** Of whoever asked for it. */
  readonly signal: AbortSignal;
  /** Aborts when the session is disposed. */
  readonly disposed: AbortSignal;
  readonly timeoutMs: number;
}

/** The servers of a session. An attempt to connect tries one after another, and begins with the one that was connected last. */
export class ServersInTurn<Server> {
  readonly #servers: readonly Server[];
  /** What one of them is called, in errors. */
  readonly #what: string;
  #turn = 0;

  constructor(what: string, servers: readonly Server[]) {
    this.#what = what;
    this.#servers = servers;
  }

  /** Rejects with the signal's reason when that aborts, else with what each of the servers has said. */
  async connect<Connected>(
    { signal, disposed, timeoutMs }: AttemptBounds,
    connectTo: (server: Server, attempt: AbortSignal) => Promise<Connected>,
  ): Promise<Connected> {
    const late = new BridgeError("TIMEOUT", `no ${this.#what} has answered within ${timeoutMs} ms`);
    using bound = deadline(systemClock, timeoutMs, late);
    const attempt = AbortSignal.any([signal, bound.signal, disposed]);
    const failures: BridgeError[] = [];
    for (let index = 0; index < this.#servers.length; index++) {
      const turn = (this.#turn + index) % this.#servers.length;
      try {
        const connected = await connectTo(this.#servers[turn] as Server, attempt);
        this.#turn = turn;
        return connected;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        failures.push(BridgeError.from(error));
        if (attempt.aborted) break;
      }
    }
    // A server that used up the time of this attempt is not the first of the next one.
    this.#turn = (this.#turn + 1) % this.#servers.length;
    throw this.#summary(failures);
  }

  /** What one of them may mend by itself is worth another attempt, whatever the others say. */
  #summary(failures: readonly BridgeError[]): BridgeError {
    const [first = new BridgeError("UNAVAILABLE", `no ${this.#what} could be tried`), ...others] = failures;
    if (others.length === 0) return first;
    const { code } = failures.find((failure) => failure.class === "transient") ?? first;
    return new BridgeError(code, failures.map(({ message }) => message).join("; "), { cause: first });
  }
}
