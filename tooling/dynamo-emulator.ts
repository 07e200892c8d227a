import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import dynalite from "dynalite";

export interface DynamoAnswer {
  readonly status: number;
  readonly body: string;
}

/** What does as DynamoDB does. */
export interface DynamoEmulator extends AsyncDisposable {
  ask(headers: IncomingHttpHeaders, body: string): Promise<DynamoAnswer>;
}

/** In this process. */
export function emulatorHere(): DynamoEmulator {
  const service = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  return {
    // Handed over whole and inside the process: dynalite throws when a connection breaks off, and a second one is dear. So
    // it need not listen, and what it has in memory goes with it.
    ask(headers, body) {
      const whole = Object.assign(Readable.from([Buffer.from(body)]), { method: "POST", url: "/", headers });
      return new Promise((resolve) => {
        const answer = {
          statusCode: 200,
          setHeader() {},
          end: (text: string) => resolve({ status: answer.statusCode, body: text }),
        };
        service.emit("request", whole, answer);
      });
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** What is passed on: signatures are not checked, and what is said of the connection is ours. */
const PASSED = ["content-type", "x-amz-target", "x-amz-date"] as const;

/**
 * Elsewhere, and empty all the same: DynamoDB Local has tables for each access key and region, so each of these asks with a
 * key of its own.
 */
export function emulatorAt(url: string): DynamoEmulator {
  const key = randomBytes(10).toString("hex");
  return {
    async ask(headers, body) {
      const passed = new Headers();
      for (const name of PASSED) passed.set(name, String(headers[name] ?? ""));
      passed.set("authorization", String(headers.authorization).replace(/Credential=[^/]*/, `Credential=${key}`));
      const answer = await fetch(url, { method: "POST", headers: passed, body });
      return { status: answer.status, body: await answer.text() };
    },
    async [Symbol.asyncDispose]() {},
  };
}
