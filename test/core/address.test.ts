import { describe, expect, test } from "vitest";
import { addressKey } from "../../src/core/address.ts";

describe("an address as a key", () => {
  test.each([
    ["IPv4", "192.0.2.7", "192.0.2.7"],
    ["IPv4-mapped, dotted", "::ffff:192.0.2.7", "192.0.2.7"],
    ["IPv4-mapped, in groups", "0:0:0:0:0:FFFF:c000:0207", "192.0.2.7"],
    ["IPv6 by its /64", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["another host of that /64", "2001:DB8:1:2::9", "2001:db8:1:2::/64"],
    ["the next /64", "2001:db8:1:3::9", "2001:db8:1:3::/64"],
    ["loopback", "::1", "0:0:0:0::/64"],
    ["all zeros", "::", "0:0:0:0::/64"],
    ["with a zone", "fe80::1%eth0", "fe80:0:0:0::/64"],
  ])("%s", (_label, address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  test.each([
    ["empty", ""],
    ["a name", "localhost"],
    ["a group too many", "1:2:3:4:5:6:7:8:9"],
    ["two gaps", "1::2::3"],
    ["a number too large", "192.0.2.256"],
    ["seven groups", "1:2:3:4:5:6:7"],
    ["a group too long", "12345::1"],
    ["v4 in the middle", "1:192.0.2.7::1"],
  ])("%s is none", (_label, address) => {
    expect(addressKey(address)).toBeNull();
  });
});
