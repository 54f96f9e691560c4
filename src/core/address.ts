/**
 * A caller's address as the key of a limit. IPv6 counts by /64, because that is what one customer is given; an
 * IPv4-mapped address is the IPv4 address that it stands for. Two spellings of one address give one key.
 */

/** @returns the key, or null for a text that is not an IP address */
export function addressKey(address: string): string | null {
  const text = address.trim().replace(/%.*$/, "");
  const v4 = parseV4(text);
  if (v4 !== null) return v4.join(".");
  const groups = parseV6(text);
  if (groups === null) return null;
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (mapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

function parseV4(text: string): number[] | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part))) return null;
  const numbers = parts.map(Number);
  return numbers.every((number) => number <= 255) ? numbers : null;
}

function parseV6(text: string): number[] | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  // Only the end of an address may be written as IPv4.
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  if (head === undefined || head === null || tail === null) return null;
  if (tail === undefined) return head.length === 8 ? head : null;
  const missing = 8 - head.length - tail.length;
  return missing < 1 ? null : [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function parseGroups(half: string, mayEndInV4: boolean): number[] | null {
  if (half === "") return [];
  const groups: number[] = [];
  const parts = half.split(":");
  for (const [index, part] of parts.entries()) {
    const v4 = mayEndInV4 && index === parts.length - 1 ? parseV4(part) : null;
    if (v4 !== null) {
      const [a = 0, b = 0, c = 0, d = 0] = v4;
      groups.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return null;
  }
  return groups;
}
