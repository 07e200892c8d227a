/** Changes what is published of a manifest. @module */

/**
 * Sources stay in the repository, and so does the condition that leads to them.
 *
 * @param {unknown} exports
 * @returns {unknown}
 */
function withoutSources(exports) {
  if (typeof exports !== "object" || exports === null) return exports;
  const left = Object.entries(exports).filter(([condition]) => condition !== "@bridge/source");
  return Object.fromEntries(left.map(([condition, target]) => [condition, withoutSources(target)]));
}

export const hooks = {
  /** @param {{ readonly exports?: unknown }} manifest */
  beforePacking: (manifest) => ({ ...manifest, exports: withoutSources(manifest.exports) }),
};
