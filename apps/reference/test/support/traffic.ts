import { Agent, request } from "node:http";

/** What one POST came to: its status, or the code of the error that its caller saw. */
export function post(port: number, agent: Agent, body: string): Promise<string> {
  return new Promise((resolve) => {
    const calling = request({ port, host: "127.0.0.1", agent, method: "POST", path: "/ingest/in" }, (answer) => {
      answer.resume().on("end", () => resolve(String(answer.statusCode)));
    });
    calling.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    calling.end(body);
  });
}

/** What callers have seen. */
export interface Traffic {
  readonly outcomes: readonly string[];
  readonly connections: number;
}

/** Callers that POST one message after another until `over` aborts, over connections that stay. */
export async function traffic(port: number, callers: number, over: AbortSignal): Promise<Traffic> {
  const outcomes: string[] = [];
  let connections = 0;
  const calling = Array.from({ length: callers }, async (_, caller) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (...args) => (connections++, connect(...args));
    for (let i = 0; !over.aborted; i++) outcomes.push(await post(port, agent, `${caller}-${i}`));
    agent.destroy();
  });
  await Promise.all(calling);
  return { outcomes, connections };
}

export function countsOf(outcomes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
