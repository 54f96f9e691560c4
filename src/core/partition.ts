/**
 * Which engine object a tenant's commands go to: always the same one, while the number of objects stays. FNV-1a, 32
 * bits, over the UTF-16 units of the caller's key: stable over versions and machines, and spread well enough.
 */

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** @param partitions how many there are, ≥ 1; @returns 0 to partitions − 1 */
export function partitionOf(key: string, partitions: number): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    hash = Math.imul(hash ^ (unit >> 8), FNV_PRIME);
  }
  return (hash >>> 0) % partitions;
}
