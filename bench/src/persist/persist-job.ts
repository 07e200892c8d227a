/** What a program that writes rows or records to a file is told. */
export interface PersistJob {
  /** Of so many the end is awaited at once. */
  readonly inFlight: number;
  readonly size: number;
  readonly path: string;
  readonly thread: "main" | "worker";
}

export function persistJob(): PersistJob {
  return JSON.parse(process.argv[2] ?? "") as PersistJob;
}
