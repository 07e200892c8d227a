import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * Publishes each line as a message, from a process of its own; resolves when that has ended.
 *
 * Up to 65,535 lines: `mosquitto_pub` takes the acknowledgement of an earlier message with the same packet identifier
 * for that of the last one, and leaves.
 */
export async function publish(
  port: number,
  args: readonly string[],
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  const program = spawn("mosquitto_pub", ["-p", String(port), "-q", "1", ...args, "-l"], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const ended = once(program, "exit");
  try {
    await pipeline(Readable.from(withBreaks(lines)), program.stdin);
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`mosquitto_pub has ended with ${String(code)}`);
  } finally {
    program.kill("SIGKILL");
  }
}

async function* withBreaks(lines: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
