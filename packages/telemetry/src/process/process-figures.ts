import type { Clock } from "@bridge/ports";
import type { Family, NumberType } from "../family.ts";
import { LoopDelay, type LoopDelayStats } from "./loop-delay.ts";
import { type OpenFiles, openFiles } from "./open-files.ts";

/** What is known of a process at one moment. */
interface Facts {
  readonly cpu: NodeJS.CpuUsage;
  readonly memory: NodeJS.MemoryUsage;
  readonly files: OpenFiles | undefined;
  readonly loop: LoopDelayStats | undefined;
}

interface ProcessMetric {
  /** As other programs call it, so that dashboards that are there fit. */
  readonly name: `process_${string}` | `nodejs_${string}`;
  readonly type: NumberType;
  readonly help: string;
  /** `undefined`: not known here. */
  readonly read: (facts: Facts) => number | undefined;
}

const PROCESS_METRICS: readonly ProcessMetric[] = [
  {
    name: "process_cpu_seconds_total",
    type: "counter",
    help: "CPU time of all threads.",
    read: ({ cpu }) => (cpu.user + cpu.system) / 1e6,
  },
  {
    name: "process_cpu_user_seconds_total",
    type: "counter",
    help: "CPU time of all threads in their own code.",
    read: ({ cpu }) => cpu.user / 1e6,
  },
  {
    name: "process_cpu_system_seconds_total",
    type: "counter",
    help: "CPU time of all threads in the system's code.",
    read: ({ cpu }) => cpu.system / 1e6,
  },
  {
    name: "process_start_time_seconds",
    type: "gauge",
    help: "When the process started, in seconds since 1970.",
    read: () => performance.timeOrigin / 1e3,
  },
  {
    name: "process_resident_memory_bytes",
    type: "gauge",
    help: "Memory of the process that is in RAM.",
    read: ({ memory }) => memory.rss,
  },
  {
    name: "process_open_fds",
    type: "gauge",
    help: "Open file descriptors; on Linux.",
    read: ({ files }) => files?.open,
  },
  {
    name: "process_max_fds",
    type: "gauge",
    help: "The most file descriptors that may be open; on Linux, where there is a limit.",
    read: ({ files }) => files?.max,
  },
  {
    name: "nodejs_heap_size_total_bytes",
    type: "gauge",
    help: "The heap of objects, as large as it is.",
    read: ({ memory }) => memory.heapTotal,
  },
  {
    name: "nodejs_heap_size_used_bytes",
    type: "gauge",
    help: "What of the heap of objects is in use, what is garbage included.",
    read: ({ memory }) => memory.heapUsed,
  },
  {
    name: "nodejs_external_memory_bytes",
    type: "gauge",
    help: "Memory outside of the heap that objects hold, payloads above all.",
    read: ({ memory }) => memory.external,
  },
  ...(["mean", "p50", "p90", "p99", "max"] as const).map((statistic): ProcessMetric => ({
    name: `nodejs_eventloop_lag_${statistic}_seconds`,
    type: "gauge",
    help: `How late the event loop was: ${statistic} of the last 30 to 60 seconds.`,
    read: ({ loop }) => loop?.[statistic],
  })),
];

/** What a process takes of its machine. Costs two timers of the event loop; each reading is told to every reader alike. */
export class ProcessFigures implements Disposable {
  readonly #loop: LoopDelay;

  constructor(clock: Clock) {
    this.#loop = new LoopDelay(clock);
  }

  /** How late the event loop was at the 99th percentile of the last 30 to 60 seconds, in milliseconds. */
  get loopP99Ms(): number | undefined {
    const delay = this.#loop.read();
    return delay && delay.p99 * 1_000;
  }

  /** Never rejects. Every metric is there, without a sample where the system does not tell. */
  async read(): Promise<readonly Family[]> {
    const files = await openFiles();
    const facts = { cpu: process.cpuUsage(), memory: process.memoryUsage(), files, loop: this.#loop.read() };
    const families = PROCESS_METRICS.map(({ name, type, help, read }): Family => {
      const value = read(facts);
      return { name, type, help, samples: value === undefined ? [] : [{ labels: {}, value }] };
    });
    return [...families, version()];
  }

  [Symbol.dispose](): void {
    this.#loop[Symbol.dispose]();
  }
}

function version(): Family {
  const samples = [{ labels: { version: process.version }, value: 1 }];
  return { name: "nodejs_version_info", type: "gauge", help: "Always 1; names the version of Node.", samples };
}
