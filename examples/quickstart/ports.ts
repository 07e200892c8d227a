import { connect, createServer } from "node:net";
import { parseArgs } from "node:util";

/** Where everything listens, all of it on 127.0.0.1. */
export interface Ports {
  readonly broker: number;
  readonly admin: number;
  readonly monitor: number;
  readonly target: number;
}

type Name = keyof Ports;

/** As examples/quickstart.yaml has them. */
export const USUAL_PORTS: Ports = { broker: 1883, admin: 8080, monitor: 8081, target: 8090 };

const NAMES = Object.keys(USUAL_PORTS) as Name[];

const HELP = `npm start [-- FLAGS]

Runs the quickstart until Ctrl-C: a broker, the bridge, something that publishes, and a web service. All listen on 127.0.0.1.

  --broker PORT   an MQTT broker that listens there is used, else one of the quickstart's own (default ${USUAL_PORTS.broker})
  --admin PORT    the admin server of the bridge (default ${USUAL_PORTS.admin})
  --monitor PORT  its monitor server (default ${USUAL_PORTS.monitor})
  --target PORT   the web service that orders go to (default ${USUAL_PORTS.target})
  --help          prints this
`;

/**
 * The ports of a command line, or the text that it asks for.
 * @throws Error when the command line is not understood
 */
export function portsFrom(args: readonly string[]): Ports | string {
  const string = { type: "string" } as const;
  const options = {
    broker: string,
    admin: string,
    monitor: string,
    target: string,
    help: { type: "boolean" },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help === true) return HELP;
  const chosen = NAMES.map((name) => {
    const port = Number(values[name] ?? USUAL_PORTS[name]);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error(`--${name} needs a port, from 1 to 65535`);
    return [name, port] as const;
  });
  for (const [index, [name, port]] of chosen.entries()) {
    const other = chosen.slice(0, index).find((before) => before[1] === port)?.[0];
    if (other !== undefined) throw new Error(`--${other} and --${name} are both ${port}: give each a port of its own`);
  }
  return Object.fromEntries(chosen) as Record<Name, number>;
}

/** @throws Error naming each port that somebody else has; the broker's may be taken: by a broker */
export async function checkFree(ports: Ports): Promise<void> {
  const taken: string[] = [];
  for (const name of NAMES) {
    if (name !== "broker" && !(await isFree(ports[name]))) {
      taken.push(
        `127.0.0.1:${ports[name]} is taken. End what listens there, or choose another: npm start -- --${name} PORT`,
      );
    }
  }
  if (taken.length > 0) throw new Error(taken.join("\n"));
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const answer = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}
