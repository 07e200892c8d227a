/**
 * How many milliseconds of processors this process spends until the work is done: what a test may hold against a bound, as
 * it says how much there was to do, however busy the machine is.
 */
export async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
