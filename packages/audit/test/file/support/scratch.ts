import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditAction } from "../../../src/actions.ts";
import type { AuditEvent } from "../../../src/event.ts";
import { type Clock, type Logger, silentLogger, systemClock } from "@bridge/ports";
import { type FileSink, type FileSinkOptions, openFileSink } from "../../../src/file/file-sink.ts";

/** A folder that goes with the test. */
export function scratch(): Disposable & { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  return {
    folder,
    path: join(folder, "audit.jsonl"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function event(id: string, action: AuditAction = "dlq.purge"): AuditEvent {
  return {
    timestamp: "2026-01-02T03:04:05.006Z",
    action,
    actor: "alice",
    resource_type: "dlq",
    resource_id: id,
    outcome: "success",
    detail: { client_addr: "10.0.0.7" },
  };
}

export function openSink(path: string, options: Partial<FileSinkOptions> = {}): Promise<FileSink> {
  return openFileSink({ path, clock: systemClock, logger: silentLogger, ...options });
}

/** Writes events one after another with a sink of its own, so that each is a write and a sync. */
export async function writeAll(path: string, names: readonly string[], options?: Partial<FileSinkOptions>) {
  await using sink = await openSink(path, options);
  for (const name of names) await sink.write(event(name));
}

/** The files of the chain, oldest first. After a power loss in a rotation there may be no current one. */
export function files(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => !name.endsWith("-lock"));
  const isFull = (name: string): boolean => /\.\d{16}$/.test(name);
  return [...names.filter(isFull).toSorted(), ...names.filter((name) => !isFull(name))].map((name) =>
    join(folder, name),
  );
}

export function lines(path: string): readonly string[] {
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

export function ids(path: string): readonly string[] {
  return lines(path).map((line) => (JSON.parse(line) as AuditEvent).resource_id);
}

/** The clock of the machine, whose ticks the test gives. */
export function handClock(): { readonly clock: Clock; readonly tick: () => void } {
  const ticks = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    every(_, tick) {
      ticks.add(tick);
      return { [Symbol.dispose]: () => void ticks.delete(tick) };
    },
  };
  return { clock, tick: () => ticks.forEach((tick) => tick()) };
}

export function listLogger(): { readonly logged: Record<string, unknown>[]; readonly logger: Logger } {
  const logged: Record<string, unknown>[] = [];
  const add = (msg: string, fields = {}): void => void logged.push({ msg, ...fields });
  const logger: Logger = { ...silentLogger, info: add, warn: add, error: add, child: () => logger };
  return { logged, logger };
}
