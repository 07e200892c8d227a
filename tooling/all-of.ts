/** All that is told, once nothing more is. */
export async function allOf<T>(told: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const each of told) all.push(each);
  return all;
}
