import type { LogLevel } from "@bridge/config";
import { veiledFields } from "@bridge/core";
import type { LogFields, Logger } from "@bridge/ports";
import { type DestinationStream, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import type { HostProcess } from "./host-process.ts";
import { printable, printableLines } from "@bridge/ports/internal";

type Veiling = (text: string) => string;

/** What holds for a log and its children, and may change. */
interface Rules {
  readonly level: LogLevel;
  readonly veil: Veiling;
}

const ORDER: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A log whose level can be changed while it is written to, for its children too. */
export interface Log extends Logger {
  setLevel(level: LogLevel): void;
}

/**
 * The log of a process, on its standard error: JSON lines, or lines for people when that is a terminal. Each line is
 * written before the call returns, so that none is lost however the process ends. `veil` takes out of what is written
 * what must not be seen; default: nothing.
 */
export function openLog(stderr: HostProcess["stderr"], level: LogLevel, veil: Veiling = (text) => text): Log {
  const options = {
    // The least that can be asked for; what is asked for is looked up for each line.
    level: "debug",
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const rules = { level, veil };
  const logger = adapt(pino(options, stderr.isTTY ? forPeople(stderr) : forPrograms(stderr)), rules);
  return { ...logger, setLevel: (next) => void (rules.level = next) };
}

/** JSON leaves everything above U+007F as it is, and somebody may look at the lines on a terminal. */
function forPrograms(stderr: HostProcess["stderr"]): DestinationStream {
  return { write: (line) => void stderr.write(`${printable(line.slice(0, -1))}\n`) };
}

/** Formatted in this thread: a transport of its own could not be bundled, and loses lines when the process exits. */
function forPeople(terminal: HostProcess["stderr"]): DestinationStream {
  const format = prettyFactory({
    colorize: terminal.hasColors(),
    translateTime: "SYS:HH:MM:ss.l",
    hideObject: true,
    messageFormat: sentence,
  });
  return { write: (line) => void terminal.write(format(line)) };
}

/** The sentence of a line, followed by its fields. */
function sentence({ level: _level, time: _time, msg, ...fields }: LogFields): string {
  const words = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
  return [msg, ...words].join(" ");
}

/** Lines after the first, such as those of a stack, are set in: none can pass for a line of the log. */
function shown(value: unknown): string {
  if (typeof value !== "string") return printable(JSON.stringify(value));
  return printableLines(value).replaceAll("\n", "\n    ");
}

/** What a child adds is put in here, as pino would write a key again that a line has too. */
function adapt(to: pino.Logger, rules: Rules, own: LogFields = {}): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (ORDER[level] < ORDER[rules.level]) return;
      to[level](veiledFields({ ...own, ...fields }, rules.veil), rules.veil(message));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => adapt(to, rules, { ...own, ...fields }),
  };
}
