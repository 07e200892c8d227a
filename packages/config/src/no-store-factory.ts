/** What validation and the builder say when a configured store type has no registered factory (spec 7.2). */
export function noStoreFactory(role: string, type: string, registered: Iterable<string>): string {
  const known = [...registered];
  const remedy =
    known.length === 0
      ? `this program has no ${role} store plugin: register one`
      : `use one of: ${known.toSorted().join(", ")}`;
  return `no store factory is registered for store type "${type}" in the role ${role}; ${remedy}`;
}
