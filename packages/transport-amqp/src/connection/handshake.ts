import { version } from "node:process";
import { Malformed } from "../codec/byte-reader.ts";
import { FieldTable } from "../codec/field-value.ts";
import { type Method, SAID } from "../codec/methods.ts";
import { SAY } from "../codec/say.ts";
import { Refusal } from "./refusal.ts";

/** The largest frame that is agreed to. */
const MAX_FRAME = 131_072;
/** No broker may ask for less. */
const MIN_FRAME = 4_096;
const MAX_CHANNEL = 2_047;
const MECHANISM = "PLAIN";

export interface Introduction {
  readonly username: string;
  readonly password: string;
  readonly vhost: string;
  /** Seconds. */
  readonly heartbeat: number;
  /** Operators find the connection by it. */
  readonly name: string;
}

/** What both sides have agreed upon. */
export interface Agreement {
  readonly frameMax: number;
  /** The highest number of a channel. */
  readonly channelMax: number;
  /** Seconds; 0: none. */
  readonly heartbeat: number;
}

/** What holds until both sides have agreed. */
export const OWN_LIMITS: Agreement = { frameMax: MAX_FRAME, channelMax: MAX_CHANNEL, heartbeat: 0 };

/** The broker does not take the virtual host, or the user in it. */
export class VhostRefusal extends Refusal {}

/** The opening of a connection: what is answered to each word of the broker, in the one order that there is. */
export class Handshake {
  readonly #introduction: Introduction;
  #awaited: "start" | "tune" | "open" = "start";
  #agreement: Agreement = OWN_LIMITS;

  constructor(introduction: Introduction) {
    this.#introduction = introduction;
  }

  /**
   * Returns what to write, or the agreement when the connection is open.
   *
   * @throws Refusal when the broker wants none of it
   * @throws Malformed when it says something else
   */
  next(method: Method): readonly Buffer[] | Agreement {
    if (method.id === SAID.close) throw this.#refusal(method);
    if (method.id !== SAID[this.#awaited])
      throw new Malformed(`${method.toString()}, where "${this.#awaited}" is expected`);
    if (this.#awaited === "open") return this.#agreement;
    return this.#awaited === "start" ? this.#start(method) : this.#tune(method);
  }

  #start(method: Method): readonly Buffer[] {
    if (!method.text(3).split(" ").includes(MECHANISM))
      throw new Malformed(`that it takes no password (only ${method.text(3).slice(0, 100)})`);
    const { username, password, name } = this.#introduction;
    this.#awaited = "tune";
    return [SAY.startOk(clientProperties(name), MECHANISM, `\0${username}\0${password}`)];
  }

  #tune(method: Method): readonly Buffer[] {
    const [channelMax, frameMax, heartbeat] = [method.number(0), method.number(1), method.number(2)];
    if (frameMax !== 0 && frameMax < MIN_FRAME) throw new Malformed(`that its frames have ${frameMax} bytes at most`);
    this.#agreement = {
      frameMax: smaller(frameMax, MAX_FRAME),
      channelMax: smaller(channelMax, MAX_CHANNEL),
      heartbeat: smaller(heartbeat, this.#introduction.heartbeat),
    };
    this.#awaited = "open";
    return [SAY.tuneOk(this.#agreement), SAY.open(this.#introduction.vhost)];
  }

  #refusal(method: Method): Refusal {
    const { code, message } = Refusal.of(method);
    const text = message.slice(`${code} `.length);
    return this.#awaited === "open" ? new VhostRefusal(code, text) : new Refusal(code, text);
  }
}

/** The smaller of two limits, of which 0 is none. */
function smaller(asked: number, own: number): number {
  return asked === 0 ? own : Math.min(asked, own);
}

function clientProperties(name: string): FieldTable {
  return new FieldTable([
    ["product", "Bridge"],
    ["platform", `Node.js ${version}`],
    ["connection_name", name],
    [
      "capabilities",
      new FieldTable([
        ["publisher_confirms", true],
        ["basic.nack", true],
        ["consumer_cancel_notify", true],
        ["connection.blocked", true],
        ["authentication_failure_close", true],
      ]),
    ],
  ]);
}
