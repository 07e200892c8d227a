/** A number of 32 bits for an id, nearly always another one (FNV-1a). What is found under it has to be compared. */
export function lookupKey(id: string): number {
  let key = 0x81_1c_9d_c5;
  for (let i = 0; i < id.length; i++) key = Math.imul(key ^ id.charCodeAt(i), 0x01_00_01_93);
  return key | 0;
}
